import { clock } from '../../lib/clock.ts';
import { traceParent } from '../../telemetry/tracing.ts';
import type { TraceDocument } from '../documents/documents.ts';

/** What is kept of the trace that asks for a pass now. Undefined outside of one. */
export function traceToKeep(): TraceDocument | undefined {
  const parent = traceParent();
  return parent === null ? undefined : { parent, at: clock.now() };
}
