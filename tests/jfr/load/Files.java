// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;

/** Writes, forces and reads a file whose name is not ASCII. */
final class Files {
    private final File file;
    private final byte[] bytes = new byte[1 << 20];

    Files() throws IOException {
        file = File.createTempFile("weft-jfr-größe-", ".bin");
        file.deleteOnExit();
    }

    void step() throws IOException, InterruptedException {
        try (RandomAccessFile f = new RandomAccessFile(file, "rw")) {
            f.write(bytes);
            f.getFD().sync();
            f.seek(0);
            f.readFully(bytes);
        }
        Thread.sleep(200);
    }
}
