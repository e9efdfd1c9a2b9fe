// SPDX-License-Identifier: BSD-3-Clause
//
// NetworkDirect, version 2, in the idiom of its programs: one end answers each message of the other.
// Completions come through an I/O completion port.
//
//   nd2_pingpong -s ADDRESS PORT          wait for the other end, and answer it
//   nd2_pingpong -c ADDRESS PORT COUNT    send COUNT messages, and say how long one takes there and back
//
// On Linux it is built with libndspi and libndwin, and NDD_SOCKET names the daemon.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <windows.h>
#include <winsock2.h>

#include <ndsupport.h>

namespace {

const ULONG Depth = 16;
const ULONG Bytes = 64;

void Check(HRESULT hr, const char *what)
{
    if (FAILED(hr)) {
        fprintf(stderr, "%s: 0x%08x\n", what, static_cast<unsigned>(hr));
        exit(1);
    }
}

class Peer
{
public:
    explicit Peer(const sockaddr_in &local)
    {
        OVERLAPPED ov = {};

        Check(NdStartup(), "NdStartup");
        Check(NdOpenAdapter(IID_IND2Adapter, reinterpret_cast<const sockaddr *>(&local), sizeof(local),
                  reinterpret_cast<void **>(&m_adapter)),
            "NdOpenAdapter");
        Check(m_adapter->CreateOverlappedFile(&m_file), "CreateOverlappedFile");
        m_port = CreateIoCompletionPort(m_file, nullptr, 0, 0);
        Check(m_port != nullptr ? S_OK : E_OUTOFMEMORY, "CreateIoCompletionPort");
        Check(m_adapter->CreateCompletionQueue(
                  IID_IND2CompletionQueue, m_file, 2 * Depth, 0, 0, reinterpret_cast<void **>(&m_cq)),
            "CreateCompletionQueue");
        Check(m_adapter->CreateQueuePair(IID_IND2QueuePair, m_cq, m_cq, nullptr, Depth, Depth, 1, 1, 0,
                  reinterpret_cast<void **>(&m_qp)),
            "CreateQueuePair");
        Check(m_adapter->CreateConnector(
                  IID_IND2Connector, m_file, reinterpret_cast<void **>(&m_connector)),
            "CreateConnector");
        Check(m_adapter->CreateMemoryRegion(
                  IID_IND2MemoryRegion, m_file, reinterpret_cast<void **>(&m_region)),
            "CreateMemoryRegion");
        Check(Wait(m_region->Register(m_buffer, sizeof(m_buffer), ND_MR_FLAG_ALLOW_LOCAL_WRITE, &ov),
                  m_region, &ov),
            "Register");
        m_sge = {m_buffer, Bytes, m_region->GetLocalToken()};
    }

    ~Peer()
    {
        OVERLAPPED ov = {};

        Wait(m_connector->Disconnect(&ov), m_connector, &ov);
        m_connector->Release();
        m_qp->Release();
        m_cq->Release();
        m_region->Release();
        CloseHandle(m_file);
        CloseHandle(m_port);
        m_adapter->Release();
        NdCleanup();
    }

    void Serve(const sockaddr_in &local)
    {
        IND2Listener *listener;
        OVERLAPPED ov = {};

        Check(m_adapter->CreateListener(IID_IND2Listener, m_file, reinterpret_cast<void **>(&listener)),
            "CreateListener");
        Check(listener->Bind(reinterpret_cast<const sockaddr *>(&local), sizeof(local)), "Bind");
        Check(listener->Listen(1), "Listen");
        printf("listening\n");
        fflush(stdout);
        Check(Wait(listener->GetConnectionRequest(m_connector, &ov), listener, &ov),
            "GetConnectionRequest");
        Check(m_qp->Receive(nullptr, &m_sge, 1), "Receive");
        Check(Wait(m_connector->Accept(m_qp, 0, 0, nullptr, 0, &ov), m_connector, &ov), "Accept");
        listener->Release();
        while (Next(Nd2RequestTypeReceive)) {
            Check(m_qp->Receive(nullptr, &m_sge, 1), "Receive");
            if (FAILED(m_qp->Send(nullptr, &m_sge, 1, 0)) || !Next(Nd2RequestTypeSend))
                break;
        }
    }

    void Call(const sockaddr_in &local, const sockaddr_in &remote, int count)
    {
        LARGE_INTEGER begin, end, frequency;
        OVERLAPPED ov = {};

        Check(m_connector->Bind(reinterpret_cast<const sockaddr *>(&local), sizeof(local)), "Bind");
        Check(Wait(m_connector->Connect(m_qp, reinterpret_cast<const sockaddr *>(&remote), sizeof(remote),
                       0, 0, nullptr, 0, &ov),
                  m_connector, &ov),
            "Connect");
        Check(Wait(m_connector->CompleteConnect(&ov), m_connector, &ov), "CompleteConnect");
        QueryPerformanceFrequency(&frequency);
        QueryPerformanceCounter(&begin);
        for (int i = 0; i < count; i++) {
            Check(m_qp->Receive(nullptr, &m_sge, 1), "Receive");
            Check(m_qp->Send(nullptr, &m_sge, 1, 0), "Send");
            if (!Next(Nd2RequestTypeSend) || !Next(Nd2RequestTypeReceive))
                Check(ND_CONNECTION_ABORTED, "the other end");
        }
        QueryPerformanceCounter(&end);
        printf("%d messages, %.1f us there and back\n", count,
            1e6 * static_cast<double>(end.QuadPart - begin.QuadPart) /
                static_cast<double>(frequency.QuadPart) / count);
    }

private:
    // A packet of the port for a call that pends. Requests are made one at a time, so it is of that one.
    HRESULT Wait(HRESULT hr, IND2Overlapped *object, OVERLAPPED *ov)
    {
        OVERLAPPED *done = nullptr;
        ULONG_PTR key;
        DWORD bytes;

        if (hr != ND_PENDING)
            return hr;
        while (done != ov)
            GetQueuedCompletionStatus(m_port, &bytes, &key, &done, INFINITE);
        return object->GetOverlappedResult(ov, FALSE);
    }

    // Whether the next result of that type is a success. Results of the other type are kept.
    bool Next(ND2_REQUEST_TYPE type)
    {
        OVERLAPPED ov = {};

        while (m_count[type] == 0) {
            ND2_RESULT result;

            if (m_cq->GetResults(&result, 1) == 0) {
                Check(Wait(m_cq->Notify(ND_CQ_NOTIFY_ANY, &ov), m_cq, &ov), "Notify");
                continue;
            }
            if (result.Status != ND_SUCCESS)
                return false;
            m_count[result.RequestType]++;
        }
        m_count[type]--;
        return true;
    }

    IND2Adapter *m_adapter;
    IND2CompletionQueue *m_cq;
    IND2QueuePair *m_qp;
    IND2Connector *m_connector;
    IND2MemoryRegion *m_region;
    HANDLE m_file, m_port;
    char m_buffer[Bytes] = {};
    ND2_SGE m_sge;
    int m_count[Nd2RequestTypeWrite + 1] = {};
};

} // namespace

int main(int argc, char **argv)
{
    sockaddr_in address, local;
    SIZE_T bytes = sizeof(local);

    if (argc < 4 || (strcmp(argv[1], "-s") != 0 && (strcmp(argv[1], "-c") != 0 || argc != 5))) {
        fprintf(stderr, "usage: nd2_pingpong -s ADDRESS PORT | -c ADDRESS PORT COUNT\n");
        return 2;
    }
    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    INT length = sizeof(address);
    if (WSAStringToAddressA(argv[2], AF_INET, nullptr, reinterpret_cast<sockaddr *>(&address), &length)) {
        fprintf(stderr, "nd2_pingpong: %s is no address\n", argv[2]);
        return 2;
    }
    address.sin_port = htons(static_cast<USHORT>(atoi(argv[3])));
    if (argv[1][1] == 's') {
        Peer(address).Serve(address);
        return 0;
    }
    Check(NdResolveAddress(reinterpret_cast<const sockaddr *>(&address), sizeof(address),
              reinterpret_cast<sockaddr *>(&local), &bytes),
        "NdResolveAddress");
    Peer(local).Call(local, address, atoi(argv[4]));
    return 0;
}
