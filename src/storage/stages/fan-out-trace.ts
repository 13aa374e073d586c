import { clock } from '../../lib/clock.ts';
import { traceParent } from '../../telemetry/tracing.ts';
import type { TraceDocument } from '../documents/documents.ts';

/** The active trace, to be stored with a requested pass. Undefined without one. */
export function traceToKeep(): TraceDocument | undefined {
  const parent = traceParent();
  return parent === null ? undefined : { parent, at: clock.now() };
}
