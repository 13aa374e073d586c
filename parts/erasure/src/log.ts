import { event } from '../../../src/telemetry/events.ts';
import type { Failure } from '../../../src/telemetry/stack-once.ts';

/** @param fields.erasure key of the erasure, which does not identify the member. */
export const logErasureRound = event<{ erasure: string; round: string; seconds: number }>(
  'info',
  'Erasure pass finished',
);
export const logErasureFailed = event<{ erasure: string; attempt: number } & Failure>(
  'warn',
  'Erasure failed, it will be retried',
);
