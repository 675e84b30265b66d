// SPDX-License-Identifier: Apache-2.0
import com.sun.management.OperatingSystemMXBean;
import java.io.File;
import java.lang.management.ManagementFactory;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;

/**
 * How long JMC takes for a file.
 *
 * JmcRead PASSES FILE: prints CPU seconds and events of each pass
 */
public final class JmcRead {
    public static void main(String[] arguments) throws Exception {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            long before = system.getProcessCpuTime();
            IItemCollection events = JfrLoaderToolkit.loadEvents(new File(arguments[1]));
            long n = 0;
            for (IItemIterable ofOneType : events) {
                n += ofOneType.getItemCount();
            }
            System.out.println((system.getProcessCpuTime() - before) / 1e9 + " " + n);
        }
    }

    private JmcRead() {
    }
}
