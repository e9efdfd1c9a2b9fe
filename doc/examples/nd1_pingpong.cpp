// SPDX-License-Identifier: BSD-3-Clause
//
// NetworkDirect, version 1, in the idiom of its programs: the server lends the client a piece of its memory for
// each message. The client writes into it, and gives it back with the message that says so.
//
//   nd1_pingpong -s ADDRESS PORT          wait for the other end, and answer it
//   nd1_pingpong -c ADDRESS PORT COUNT    do so COUNT times, and say how long one takes there and back
//
// The server takes back the last window itself. On Linux it is built with libndspi and libndwin, and NDD_SOCKET
// names the daemon.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <windows.h>
#include <winsock2.h>

#include <ndsupport.h>

namespace {

const SIZE_T Depth = 16;
const SIZE_T Bytes = 64;

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
        Check(NdStartup(), "NdStartup");
        Check(NdOpenV1Adapter(reinterpret_cast<const sockaddr *>(&local), sizeof(local), &m_adapter),
            "NdOpenV1Adapter");
        m_ov.hEvent = CreateEvent(nullptr, FALSE, FALSE, nullptr);
        Check(m_ov.hEvent != nullptr ? S_OK : E_OUTOFMEMORY, "CreateEvent");
        Check(m_adapter->CreateCompletionQueue(Depth, &m_inbound), "CreateCompletionQueue");
        Check(m_adapter->CreateCompletionQueue(Depth, &m_outbound), "CreateCompletionQueue");
        Check(m_adapter->CreateConnector(&m_connector), "CreateConnector");
        Check(m_connector->CreateEndpoint(m_inbound, m_outbound, Depth / 2, Depth, 1, 1, 0, 0, nullptr,
                  &m_endpoint),
            "CreateEndpoint");
        Check(Wait(m_adapter->RegisterMemory(m_memory, sizeof(m_memory), &m_ov, &m_mr), m_adapter),
            "RegisterMemory");
    }

    ~Peer()
    {
        Wait(m_connector->Disconnect(&m_ov), m_connector);
        m_connector->Release();
        m_endpoint->Release();
        if (m_window != nullptr)
            m_window->Release();
        Wait(m_adapter->DeregisterMemory(m_mr, &m_ov), m_adapter);
        m_inbound->Release();
        m_outbound->Release();
        m_adapter->Release();
        CloseHandle(m_ov.hEvent);
        NdCleanup();
    }

    void Serve(USHORT port)
    {
        INDListen *listen;

        Check(m_adapter->CreateMemoryWindow(&m_invalidated, &m_window), "CreateMemoryWindow");
        Check(m_adapter->Listen(1, IPPROTO_TCP, port, nullptr, &listen), "Listen");
        printf("listening\n");
        fflush(stdout);
        Check(Wait(listen->GetConnectionRequest(m_connector, &m_ov), listen), "GetConnectionRequest");
        Expect(&m_asked);
        Check(Wait(m_connector->Accept(m_endpoint, nullptr, 0, &m_ov), m_connector), "Accept");
        listen->Release();
        while (Lend()) {
            Await(&m_used);
            Await(&m_invalidated);
        }
        // The client is done with the last one, but has not given it back.
        Await(&m_used);
        Check(m_endpoint->Invalidate(&m_done, m_window, 0), "Invalidate");
        Complete();
        printf("done\n");
    }

    void Call(const sockaddr_in &remote, int count)
    {
        LARGE_INTEGER begin, end, frequency;

        Check(Wait(m_connector->Connect(m_endpoint, reinterpret_cast<const sockaddr *>(&remote),
                       sizeof(remote), IPPROTO_TCP, 0, nullptr, 0, &m_ov),
                  m_connector),
            "Connect");
        Check(Wait(m_connector->CompleteConnect(&m_ov), m_connector), "CompleteConnect");
        QueryPerformanceFrequency(&frequency);
        QueryPerformanceCounter(&begin);
        for (int number = count; number > 0; number--)
            Borrow(number);
        QueryPerformanceCounter(&end);
        Borrow(0);
        Check(Wait(m_connector->NotifyDisconnect(&m_ov), m_connector), "NotifyDisconnect");
        printf("%d windows, %.1f us there and back\n", count,
            1e6 * static_cast<double>(end.QuadPart - begin.QuadPart) /
                static_cast<double>(frequency.QuadPart) / count);
    }

private:
    // The outcome of a call that may pend. Requests are made one at a time.
    HRESULT Wait(HRESULT hr, INDOverlapped *object)
    {
        SIZE_T bytes;

        return hr == ND_PENDING ? object->GetOverlappedResult(&m_ov, &bytes, TRUE) : hr;
    }

    // The next result of a queue is that of a request, which has succeeded.
    void Take(INDCompletionQueue *queue, const ND_RESULT *wanted)
    {
        ND_RESULT *result;

        while (queue->GetResults(&result, 1) == 0)
            Check(Wait(queue->Notify(ND_CQ_NOTIFY_ANY, &m_ov), queue), "Notify");
        if (result != wanted || result->Status != ND_SUCCESS)
            Check(FAILED(result->Status) ? result->Status : ND_UNSUCCESSFUL, "a result");
    }

    void Await(const ND_RESULT *wanted)
    {
        Take(m_inbound, wanted);
    }

    void Complete()
    {
        Take(m_outbound, &m_done);
    }

    // Messages come into the second part of the memory.
    void Expect(ND_RESULT *result)
    {
        ND_SGE sge = {m_memory + Bytes, Bytes, m_mr};

        Check(m_endpoint->Receive(result, &sge, 1), "Receive");
    }

    // Small, so it needs no registered memory.
    void Say(void *what, SIZE_T bytes)
    {
        ND_SGE sge = {what, bytes, nullptr};

        Check(m_endpoint->Send(&m_done, &sge, 1, 0), "Send");
        Complete();
    }

    // Server: the client asks with a number; lend it the first part of the memory, where it writes that. Whether
    // it gives it back itself.
    bool Lend()
    {
        ND_MW_DESCRIPTOR window;
        int number;

        if (m_lent >= 0 && memcmp(m_memory, &m_lent, sizeof(m_lent)) != 0)
            Check(ND_UNSUCCESSFUL, "what is in the window");
        Await(&m_asked);
        memcpy(&number, m_memory + Bytes, sizeof(number));
        m_lent = number;
        Expect(&m_used);
        Expect(&m_asked); // the next time, which may come before this end is there
        Check(m_endpoint->Bind(&m_done, m_mr, m_window, m_memory, Bytes, ND_OP_FLAG_ALLOW_WRITE, &window),
            "Bind");
        Complete();
        Say(&window, sizeof(window));
        return number > 0;
    }

    // Client: ask with a number, write it into the window, and give that back, but for the last one.
    void Borrow(int number)
    {
        ND_SGE sge = {&number, sizeof(number), nullptr};
        ND_MW_DESCRIPTOR window;

        Expect(&m_offered);
        Say(&number, sizeof(number));
        Await(&m_offered);
        memcpy(&window, m_memory + Bytes, sizeof(window));
        Check(m_endpoint->Write(&m_done, &sge, 1, &window, 0, 0), "Write");
        Complete();
        if (number > 0)
            Check(m_endpoint->SendAndInvalidate(&m_done, nullptr, 0, &window, 0), "SendAndInvalidate");
        else
            Check(m_endpoint->Send(&m_done, nullptr, 0, 0), "Send");
        Complete();
    }

    INDAdapter *m_adapter;
    INDCompletionQueue *m_inbound, *m_outbound;
    INDConnector *m_connector;
    INDEndpoint *m_endpoint;
    INDMemoryWindow *m_window = nullptr;
    ND_MR_HANDLE m_mr;
    // One for each request that is under way at a time.
    ND_RESULT m_asked, m_used, m_offered, m_done, m_invalidated;
    int m_lent = -1; // the number that the window was lent for
    OVERLAPPED m_ov = {};
    char m_memory[2 * Bytes] = {};
};

} // namespace

int main(int argc, char **argv)
{
    sockaddr_in address, local;
    SIZE_T bytes = sizeof(local);

    if (argc < 4 || (strcmp(argv[1], "-s") != 0 && (strcmp(argv[1], "-c") != 0 || argc != 5))) {
        fprintf(stderr, "usage: nd1_pingpong -s ADDRESS PORT | -c ADDRESS PORT COUNT\n");
        return 2;
    }
    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    INT length = sizeof(address);
    if (WSAStringToAddressA(argv[2], AF_INET, nullptr, reinterpret_cast<sockaddr *>(&address), &length)) {
        fprintf(stderr, "nd1_pingpong: %s is no address\n", argv[2]);
        return 2;
    }
    address.sin_port = htons(static_cast<USHORT>(atoi(argv[3])));
    if (argv[1][1] == 's') {
        Peer(address).Serve(address.sin_port);
        return 0;
    }
    Check(NdResolveAddress(reinterpret_cast<const sockaddr *>(&address), sizeof(address),
              reinterpret_cast<sockaddr *>(&local), &bytes),
        "NdResolveAddress");
    Peer(local).Call(address, atoi(argv[4]));
    return 0;
}
