// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A client that waits for a slow server in the same process. */
final class Sockets {
    private static final int SLOW = 30;
    private final ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    private Socket client;

    Sockets() throws IOException {
    }

    void serve() throws IOException, InterruptedException {
        byte[] bytes = new byte[64];
        try (Socket socket = server.accept()) {
            for (int n; (n = socket.getInputStream().read(bytes)) > 0;) {
                Thread.sleep(SLOW);
                socket.getOutputStream().write(bytes, 0, n);
            }
        }
    }

    void ask() throws IOException {
        byte[] bytes = new byte[48];
        if (client == null) {
            client = new Socket(server.getInetAddress(), server.getLocalPort());
        }
        client.getOutputStream().write(bytes);
        client.getInputStream().read(bytes);
    }

    void close() throws IOException {
        server.close();
        if (client != null) {
            client.close();
        }
    }
}
