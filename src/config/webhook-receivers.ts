import { z } from 'zod';
import { HOST_EVENT_TYPES } from '../domain/host-event.ts';
import { MAX_KEY_BYTES, MIN_KEY_BYTES, webhookKey, type WebhookReceiver } from '../domain/webhook.ts';
import { isTenantName, TENANT_FORM } from '../domain/stored-id.ts';
import { readStreamAddress, STREAM_FORM } from '../domain/stream-address.ts';
import type { Kind } from './kinds.ts';

const MOST_RECEIVERS = 20;
const MOST_SECRETS = 5;
const MAX_URL_LENGTH = 2_048;

const EXPECTS =
  `a JSON list of at most ${String(MOST_RECEIVERS)} receivers with different URLs, each ` +
  '{"url": "https://…", "secrets": ["whsec_…"]}, and as needed "types", "tenant" and "allowPrivateAddress", or ' +
  '{"url": "redis://…/stream"} or {"url": "nats://…/subject"}, and as needed "types" and "tenant"';

/** An HTTP URL without credentials: it is stored and shown. */
const target = z
  .string()
  .max(MAX_URL_LENGTH)
  .refine(
    (text) => {
      if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
      const { username, password, hash } = new URL(text);
      return username === '' && password === '' && hash === '';
    },
    { error: 'a URL that begins with https:// or http://, without a password and without #' },
  );

const secret = z.string().transform((text, context): Uint8Array => {
  const key = webhookKey(text);
  if (key !== null) return key;
  const bytes = `${String(MIN_KEY_BYTES)} to ${String(MAX_KEY_BYTES)} bytes`;
  context.addIssue({ code: 'custom', message: `whsec_ and ${bytes} in Base64` });
  return z.NEVER;
});

const SECRETS = z.array(secret).min(1).max(MOST_SECRETS);
const isAllowed = ({
  url,
  allowPrivateAddress,
}: {
  readonly url: string;
  readonly allowPrivateAddress: boolean;
}) => allowPrivateAddress || url.startsWith('https://');
const NOT_ALLOWED = { error: 'https://, or "allowPrivateAddress": true', path: ['url'] };

const SIGNED = z.strictObject({
  url: target,
  secrets: SECRETS,
  allowPrivateAddress: z.boolean().default(false),
});

const signed = ({ url, secrets, allowPrivateAddress }: z.output<typeof SIGNED>) => ({
  ...{ url: new URL(url).href, keys: secrets, allowPrivateAddress },
});

/** A URL that signed requests go to. Faults name the place but never the value, which may be a secret. */
export const signedTarget = SIGNED.refine(isAllowed, NOT_ALLOWED).transform(signed);

/** The same with a time limit, in milliseconds. */
export const timedTarget = (timeoutMs: z.ZodType<number>) =>
  SIGNED.extend({ timeoutMs })
    .refine(isAllowed, NOT_ALLOWED)
    .transform(({ timeoutMs: ms, ...of }) => ({ ...signed(of), timeoutMs: ms }));

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
