// SPDX-License-Identifier: GPL-2.0-only
// Threads of Java: Locks one (all in one synchronized method) or Locks pool (a pool that has next to nothing to do).
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

class Locks {
    private static long sum;

    private static synchronized void work() {
        for (int i = 0; i < 100000; i++) {
            sum += i ^ sum;
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("pool")) {
            Executors.newScheduledThreadPool(8).scheduleAtFixedRate(Locks::work, 0, 50, TimeUnit.MILLISECONDS);
            return;
        }
        for (int i = 0; i < 8; i++) {
            new Thread(() -> {
                while (true) {
                    work();
                }
            }).start();
        }
    }
}
