import type { WebhookClient, WebhookOutcome } from '../../connections/webhook-client.ts';
import type { NumberedHostEvent } from '../../domain/host-event.ts';
import { viewHostEvents } from '../../storage/privacy/host-event-views.ts';
import {
  MAX_RETRY_AFTER_MS,
  retryDelayMs,
  webhookPayload,
  type WebhookReceiver,
} from '../../domain/webhook.ts';
import { signatureHeaders } from '../../domain/webhook-signature.ts';
import type { ReceiverHealth } from './receiver-health.ts';
import type { Context } from '../../feeds/context.ts';

/** What sending to one receiver takes beside the context. */
export interface Sending {
  readonly client: WebhookClient;
  readonly now: () => Date;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly observer: { attempted(isTaken: boolean, seconds: number): void };
}

export type SendResult =
  | 'taken'
  /** Not sent, because this process may not send any more. */
  | 'unsent'
  | { readonly error: string; readonly nextAttemptAt: Date };

export interface SenderOptions extends Sending {
  readonly receiver: WebhookReceiver;
  readonly health: ReceiverHealth;
  readonly signal: AbortSignal;
  readonly maySend: () => Promise<boolean>;
}

/** For what is done between the end of a request and the record of how it ended. */
const ANSWER_SLACK_MS = 5_000;

/** Sends events to one receiver in their current form: members erased since are not named. */
export class WebhookSender {
  readonly #context: Context;
  readonly #options: SenderOptions;

  constructor(context: Context, options: SenderOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** A request that begins now has ended by then. */
  answeredBy(): Date {
    const { client, now } = this.#options;
    return new Date(now().getTime() + client.timeoutMs + ANSWER_SLACK_MS);
  }

  /** @param attempts number of failed attempts so far. */
  async send(event: NumberedHostEvent, attempts: number): Promise<SendResult> {
    const { health, receiver, maySend, now, random } = this.#options;
    const { webhookDeliveries } = this.#context;
    if (!(await maySend())) return 'unsent';
    const outcome = await this.#post(event);
    if (outcome === null) return 'unsent';
    if (health.note(outcome)) await webhookDeliveries.hasten(receiver.url, now());
    if (outcome.isTaken) return 'taken';
    const asked = Math.min(MAX_RETRY_AFTER_MS, outcome.retryAfterMs ?? 0);
    const delay = Math.max(asked, retryDelayMs(attempts + 1, random()));
    return { error: outcome.error, nextAttemptAt: new Date(now().getTime() + delay) };
  }

  /** `null`: aborted before there was an answer. */
  async #post(event: NumberedHostEvent): Promise<WebhookOutcome | null> {
    const { erasures } = this.#context;
    const { receiver, signal, client, now, observer } = this.#options;
    const [view] = await viewHostEvents(erasures, [event]);
    if (view === undefined) return null;
    const body = JSON.stringify(webhookPayload(view));
    const headers = signatureHeaders(receiver.keys, { id: event.id, sentAt: now(), body });
    const startedAt = performance.now();
    try {
      const outcome = await client.post(headers, body, signal);
      observer.attempted(outcome.isTaken, (performance.now() - startedAt) / 1_000);
      return outcome;
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  }
}
