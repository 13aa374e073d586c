import { z } from 'zod';
import { isAllowed, MAX_URL_LENGTH, NOT_ALLOWED, SIGNED, signed } from '../../../src/config/signed-target.ts';
import type { Kind } from '../../../src/config/kinds.ts';
import { HOST_EVENT_TYPES, type HostEventType } from '../../../src/domain/host-event.ts';
import { isTenantName, TENANT_FORM, type Tenant } from '../../../src/domain/stored-id.ts';
import { readStreamAddress, STREAM_FORM, type StreamAddress } from '../../../src/domain/stream-address.ts';

export interface WebhookReceiver {
  /** Its address, which also identifies it; without a password. */
  readonly url: string;
  /** Where its events are put; `null`: they are sent by HTTP, signed. */
  readonly stream: StreamAddress | null;
  /** Signing keys as bytes; none for a stream. Each event is signed with all of them, so that keys can be rotated one at a time. */
  readonly keys: readonly Uint8Array[];
  /** `null`: all event types. */
  readonly types: readonly HostEventType[] | null;
  /** Limits the receiver to one tenant's events; `null`: events of all tenants. */
  readonly tenant: Tenant | null;
  /** Allows private network addresses and plain HTTP; the servers of streams are the host's own. */
  readonly allowPrivateAddress: boolean;
}

const MOST_RECEIVERS = 20;

const EXPECTS =
  `a JSON list of at most ${String(MOST_RECEIVERS)} receivers with different URLs, each ` +
  '{"url": "https://…", "secrets": ["whsec_…"]}, and as needed "types", "tenant" and "allowPrivateAddress", or ' +
  '{"url": "redis://…/stream"} or {"url": "nats://…/subject"}, and as needed "types" and "tenant"';

const SELECTED = {
  types: z.array(z.enum(HOST_EVENT_TYPES)).min(1).optional(),
  tenant: z.string().refine(isTenantName, { error: TENANT_FORM }).optional(),
};

const selected = ({ types, tenant }: z.output<z.ZodObject<typeof SELECTED>>) => ({
  types: types === undefined ? null : [...types, 'webhook.test' as const],
  tenant: tenant ?? null,
});

const httpReceiver = SIGNED.extend(SELECTED)
  .refine(isAllowed, NOT_ALLOWED)
  .transform((given): WebhookReceiver => ({ ...signed(given), ...selected(given), stream: null }));

/** A subject with these stands for many. */
const WILDCARD = /[*>\s]/;

/** The server of a stream is the host's own, as its database is. */
const streamReceiver = z
  .strictObject({ url: z.string().max(MAX_URL_LENGTH), ...SELECTED })
  .transform(({ url, ...given }, context): WebhookReceiver => {
    const stream = readStreamAddress(url);
    if (stream !== null && !(stream.kind === 'nats' && WILDCARD.test(stream.stream)))
      return { url: stream.shown, stream, keys: [], ...selected(given), allowPrivateAddress: true };
    context.addIssue({ code: 'custom', message: `a stream, such as ${STREAM_FORM}`, path: ['url'] });
    return z.NEVER;
  });

const STREAM = z.looseObject({ url: z.string().regex(/^(?:rediss?|nats):/) });

/** By its scheme, so that a fault is one of its kind. */
const receiver = z.unknown().transform((given, context): WebhookReceiver => {
  const kind = STREAM.safeParse(given).success ? streamReceiver : httpReceiver;
  const read = kind.safeParse(given);
  if (read.success) return read.data;
  for (const { path, message } of read.error.issues)
    context.addIssue({ code: 'custom', path: [...path], message });
  return z.NEVER;
});

const receivers = z.array(receiver).max(MOST_RECEIVERS);

/** Receivers of events. Faults name the place but never the value, which may be a secret. */
export function webhookReceivers(): Kind<readonly WebhookReceiver[]> {
  const schema = z.string().transform((text, context): readonly WebhookReceiver[] => {
    const fail = (message: string): never => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    const read = receivers.safeParse(parsed(text));
    if (!read.success) {
      const [issue] = read.error.issues;
      const place = issue?.path.map(String).join('.') ?? '';
      return fail(place === '' ? EXPECTS : `at ${place}: ${issue?.message ?? EXPECTS}`);
    }
    const urls = new Set(read.data.map(({ url }) => url));
    return urls.size === read.data.length ? read.data : fail(EXPECTS);
  });
  return { expects: EXPECTS, schema };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
