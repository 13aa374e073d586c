import type { Logger } from '../logger.ts';
import type { Failure } from '../stack-once.ts';

export function logWorkerStarted(
  log: Logger,
  fields: { readonly worker: string; readonly concurrency: number; readonly model: string },
): void {
  log.info(fields, 'Fan-out worker started');
}

export function logWorkerStopped(log: Logger, fields: { readonly worker: string }): void {
  log.info(fields, 'Fan-out worker stopped');
}

export function logWorkerTrouble(log: Logger, fields: { readonly err: unknown }): void {
  log.error(fields, 'The worker cannot look for work, it keeps trying');
}

export function logJobFailed(log: Logger, fields: { readonly job: string; readonly err: unknown }): void {
  log.error(fields, 'A background job failed, it will be retried');
}

export function logFanOutFinished(
  log: Logger,
  fields: {
    readonly actionId: string;
    readonly state: string;
    readonly lane: string;
    readonly version: number;
    readonly delivered: number;
    readonly seconds: number;
  },
): void {
  log.debug(fields, 'Fan-out pass finished');
}

export function logFanOutAttemptFailed(
  log: Logger,
  fields: { readonly actionId: string; readonly attempt: number } & Failure,
): void {
  log.warn(fields, 'Fan-out attempt failed, it will be retried');
}

export function logFanOutGivenUp(
  log: Logger,
  fields: { readonly actionId: string; readonly attempts: number } & Failure,
): void {
  log.error(fields, 'Fan-out failed for good, an admin can retry it');
}

/** Not an error: another pass with the action's current state follows. */
export function logFanOutOvertaken(
  log: Logger,
  fields: { readonly actionId: string; readonly version: number },
): void {
  log.debug(fields, 'Fan-out pass ended early, the action was hidden, shown again or deleted');
}

export function logLeaseLost(
  log: Logger,
  fields: { readonly actionId: string; readonly worker: string },
): void {
  log.warn(fields, 'Lease lost, another worker has the action');
}

export function logFeedRebuilt(
  log: Logger,
  fields: { readonly userId: string; readonly seconds: number },
): void {
  log.debug(fields, 'Feed rebuilt');
}

export function logRescored(
  log: Logger,
  fields: { readonly generation: string; readonly actions: number; readonly seconds: number },
): void {
  log.debug(fields, 'Ranking scores computed');
}

export function logNameCarried(
  log: Logger,
  fields: {
    readonly id: string;
    readonly version: number;
    readonly actions: number;
    readonly seconds: number;
  },
): void {
  log.debug(fields, 'Copies of a changed name updated');
}

export function logRenameAttemptFailed(
  log: Logger,
  fields: { readonly id: string; readonly attempt: number } & Failure,
): void {
  log.warn(fields, 'Updating the copies of a name failed, it will be retried');
}

/** @param fields.erasure key of the erasure, which does not identify the member. */
export function logErasureRound(
  log: Logger,
  fields: { readonly erasure: string; readonly round: string; readonly seconds: number },
): void {
  log.info(fields, 'Erasure pass finished');
}

export function logErasureFailed(
  log: Logger,
  fields: { readonly erasure: string; readonly attempt: number } & Failure,
): void {
  log.warn(fields, 'Erasure failed, it will be retried');
}

/** Pending events stay queued and are retried. */
export function logWebhookDown(
  log: Logger,
  fields: { readonly receiver: string; readonly error: string },
): void {
  log.warn(fields, 'Webhook receiver is down, new events wait');
}

export function logWebhookBack(log: Logger, fields: { readonly receiver: string }): void {
  log.info(fields, 'Webhook receiver is up again');
}

export function logWebhookGivenUp(
  log: Logger,
  fields: {
    readonly receiver: string;
    readonly eventId: string;
    readonly attempts: number;
    readonly error: string;
  },
): void {
  log.error(fields, 'Webhook delivery failed for good, an admin can retry it');
}

/** @param fields.events upper bound: includes events the receiver did not subscribe to. */
export function logWebhookSkipped(
  log: Logger,
  fields: { readonly receiver: string; readonly events: number },
): void {
  log.error(fields, 'Webhook receiver was down for longer than events are kept, some were never sent');
}
