import { hostEventsRepository } from '../../events/src/store/host-events.ts';
import type { Core } from '../../../src/core/core.ts';
import { decodePlace, encodePlace } from '../../../src/domain/cursor.ts';
import { badInput, FanfareError } from '../../../src/domain/errors.ts';
import type { HostEventView } from '../../../src/domain/host-event.ts';
import { idBeside, hasNeighbours } from '../../../src/domain/stored-id.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { RECEIVER_REMOVED_AFTER_MS, type WebhookDelivery, type WebhookState } from './webhook.ts';
import { clock } from '../../../src/lib/clock.ts';
import { viewHostEvents } from '../../../src/features/erasure/store/erasures.ts';
import { webhookDeliveriesRepository, type WebhookPlace, webhookReceiversRepository } from './store.ts';
import { askedPage, collectPage } from '../../../src/feed/page/paging.ts';
import { requireRole } from '../../../src/core/validate.ts';
import type { Page, PageArgs } from '../../../src/core/shapes.ts';

const LIST = 'webhookDeliveries';
const ID = /^[0-9a-f]{32}$/;
const ID_BYTES = 16;

/** A pending delivery with its event, as it would be sent now. */
export interface WebhookDeliveryView extends WebhookDelivery {
  readonly event: HostEventView;
}

export interface WebhookDeliveriesArgs extends PageArgs {
  /** Absent: all states. */
  readonly state?: WebhookState | null | undefined;
}

/** Deliveries that receivers have not accepted, newest event first. @throws FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR */
export async function listWebhookDeliveries(
  core: Core,
  identity: Identity,
  args: WebhookDeliveriesArgs,
): Promise<Page<WebhookDeliveryView>> {
  requireRole(identity, 'admin');
  const list = idBeside(identity.userId, LIST);
  return collectPage<WebhookPlace, WebhookDelivery, WebhookDeliveryView>({
    page: askedPage(args, (cursor) => {
      const { at, id } = decodePlace(list, cursor, ID_BYTES);
      return { seq: at, id };
    }),
    scan: (stretch) =>
      webhookDeliveriesRepository(core.collections).page(identity.userId, args.state ?? null, stretch),
    select: (deliveries) => withEvents(core, identity, deliveries),
    cursorOf: (place) => encodePlace(list, place.seq, place.id),
  });
}

/**
 * Retries a delivery at once, with as many attempts as a new one.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT, NOT_FOUND; CONFLICT when no worker has its receiver in its settings
 */
export async function retryWebhook(core: Core, identity: Identity, id: string): Promise<WebhookDeliveryView> {
  requireRole(identity, 'admin');
  if (!ID.test(id)) throw badInput('Not the id of a webhook delivery', ['id']);
  const webhookDeliveries = webhookDeliveriesRepository(core.collections);
  const known = await webhookDeliveries.find(identity.userId, id);
  const seenAt = known === null ? null : await webhookReceiversRepository(core.collections).seenAt(known.url);
  if (known !== null && clock.time() - (seenAt?.getTime() ?? 0) > RECEIVER_REMOVED_AFTER_MS)
    throw new FanfareError(
      'CONFLICT',
      `No worker has the receiver ${hostOf(known.url)} in its settings: nothing would be sent`,
    );
  const delivery = await webhookDeliveries.retry(identity.userId, id, clock.now());
  const [view] = delivery === null ? [] : await withEvents(core, identity, [delivery]);
  if (view === undefined) throw new FanfareError('NOT_FOUND', 'The webhook delivery does not exist');
  return view;
}

/** How far a receiver is. */
export interface WebhookReceiverView {
  readonly url: string;
  /** Events of the log that it has not been sent yet. */
  readonly behind: number;
  /** A process sends to it now. */
  readonly isSending: boolean;
  readonly seenAt: Date;
}

/** Receivers of the settings; none with tenants, since they and their figures are those of all. @throws FORBIDDEN */
export async function listWebhookReceivers(core: Core, identity: Identity): Promise<WebhookReceiverView[]> {
  requireRole(identity, 'admin');
  if (hasNeighbours(identity.userId)) return [];
  const [{ last }, receivers] = await Promise.all([
    hostEventsRepository(core.collections).range(),
    webhookReceiversRepository(core.collections).all(clock.now()),
  ]);
  return receivers.map(({ seq, ...rest }) => ({ ...rest, behind: Math.max(0, last - seq) }));
}

/**
 * Sends an event of the type `webhook.test` in the way of all others. Returns its id.
 * @throws FanfareError FORBIDDEN; CONFLICT when no worker has a receiver in its settings
 */
export async function sendTestEvent({ eventOutbox, collections }: Core, identity: Identity): Promise<string> {
  requireRole(identity, 'admin');
  const seen = await webhookReceiversRepository(collections).seenSince(
    new Date(clock.time() - RECEIVER_REMOVED_AFTER_MS),
  );
  if (seen.length === 0)
    throw new FanfareError('CONFLICT', 'No worker has a receiver in its settings: nothing would be sent');
  return eventOutbox.putTest(identity.userId);
}

async function withEvents(
  { collections, erasures }: Core,
  { userId }: Identity,
  deliveries: readonly WebhookDelivery[],
): Promise<WebhookDeliveryView[]> {
  const events = await hostEventsRepository(collections).byIds([
    ...new Set(deliveries.map(({ eventId }) => eventId)),
  ]);
  const views = await viewHostEvents(erasures, [...events.values()]);
  const byId = new Map(views.map((view) => [view.id, view]));
  return deliveries.flatMap((delivery) => {
    const event = byId.get(delivery.eventId);
    if (event === undefined) return [];
    return [{ ...delivery, url: hasNeighbours(userId) ? hostOf(delivery.url) : delivery.url, event }];
  });
}

/** Host name only: neighbours share the receivers of the whole installation, whose paths and parameters may be secret. */
function hostOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
