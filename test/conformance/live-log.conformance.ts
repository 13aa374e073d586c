import { describe } from 'vitest';
import { liveLogBounds } from './live-log-bounds.ts';
import { liveLogForget } from './live-log-forget.ts';
import { liveLogInterleavings } from './live-log-interleavings.ts';
import { liveLogLifecycle } from './live-log-lifecycle.ts';
import { liveLogOrder } from './live-log-order.ts';
import { liveLogResume } from './live-log-resume.ts';
import type { MakeLiveLog } from './live-log-fixture.ts';

/** What every adapter of the port has to keep, whole. */
export function liveLogConformance(name: string, makeLog: MakeLiveLog): void {
  describe(`live log: ${name}`, () => {
    liveLogOrder(makeLog);
    liveLogResume(makeLog);
    liveLogBounds(makeLog);
    liveLogLifecycle(makeLog);
    liveLogForget(makeLog);
    liveLogInterleavings(makeLog);
  });
}
