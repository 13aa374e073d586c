import { event } from '../../../src/telemetry/events.ts';
import type { Logger } from '../../../src/telemetry/logger.ts';

export const logProcessStarted = event<{ process: number; pid: number }>('info', 'Process started');
/** The process will be killed and restarted. */
export function logProcessHangs(
  log: Logger,
  {
    hasStarted,
    ...fields
  }: {
    readonly process: number;
    readonly pid: number;
    readonly hasStarted: boolean;
    readonly silentForMs: number;
  },
): void {
  log.warn(
    fields,
    hasStarted
      ? 'Process did not respond and was killed'
      : 'Process did not respond during its start and was killed',
  );
}
/** The process will be restarted. */
export const logProcessEnded = event<{
  process: number;
  pid: number;
  code: number | null;
  signal: string | null;
  againInMs: number;
}>('warn', 'Process ended');
