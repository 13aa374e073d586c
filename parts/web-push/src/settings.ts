import { createECDH } from 'node:crypto';
import { text } from '../../../src/config/kinds.ts';
import { type ConfigFault, partSettings } from '../../../src/config/part-settings.ts';
import { optional, type SettingValues, type ValuesOf } from '../../../src/config/settings.ts';

/** How the server is known to push services. */
export interface PushConfig {
  readonly publicKey: string;
  readonly privateKey: string;
  readonly subject: string;
}

const SETTINGS = {
  PUSH_VAPID_PUBLIC_KEY: optional(
    text('65 bytes in base64url', /^[\w-]{87}$/),
    'Public key of push messages; `npx web-push generate-vapid-keys` makes both. Not set: none are sent.',
  ),
  PUSH_VAPID_PRIVATE_KEY: optional(
    text('32 bytes in base64url', /^[\w-]{43}$/),
    'Private key of push messages.',
    { isSecret: true },
  ),
  PUSH_SUBJECT: optional(
    text(
      'mailto: and an address, or an https URL, not of localhost, which push services refuse',
      /^(mailto:[^@\s]+@(?!localhost$)[^@\s]+|https:\/\/(?!localhost(?:[:/]|$))\S+)$/i,
    ),
    'Whom push services tell of trouble with push messages.',
  ),
};

type Values = ValuesOf<typeof SETTINGS> & SettingValues;

/** Complete, or none: see `pushFaults`. */
function pushOf(values: Values): PushConfig | null {
  const publicKey = values.PUSH_VAPID_PUBLIC_KEY;
  const privateKey = values.PUSH_VAPID_PRIVATE_KEY;
  const subject = values.PUSH_SUBJECT;
  if (publicKey === undefined || privateKey === undefined || subject === undefined) return null;
  return { publicKey, privateKey, subject };
}

const PUSH_SETTINGS = ['PUSH_VAPID_PUBLIC_KEY', 'PUSH_VAPID_PRIVATE_KEY', 'PUSH_SUBJECT'] as const;

/** Push messages need all of their settings, a pair of keys, and notifications, of which one setting is that of their part. */
function pushFaults(
  values: Partial<Values> & { readonly NOTIFY_AFTER?: unknown },
  faults: readonly ConfigFault[],
): ConfigFault[] {
  const missing = PUSH_SETTINGS.filter((name) => values[name] === undefined);
  if (missing.length === PUSH_SETTINGS.length) return [];
  if (missing.length > 0)
    return missing
      .filter((name) => !faults.some((fault) => fault.name === name))
      .map((name) => ({ name, message: `is not set, expected all of ${PUSH_SETTINGS.join(', ')} or none` }));
  const [name] = PUSH_SETTINGS;
  for (const needed of ['EVENT_RETENTION', 'NOTIFY_AFTER'] as const)
    if (values[needed] === undefined && !faults.some((fault) => fault.name === needed))
      return [{ name, message: `is set while ${needed} is off, expected only one of these` }];
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(values.PUSH_VAPID_PRIVATE_KEY ?? '', 'base64url');
  if (pair.getPublicKey('base64url') === values[name]) return [];
  return [{ name, message: 'does not belong to PUSH_VAPID_PRIVATE_KEY' }];
}

/** `null`: no push messages are sent. */
export const PUSH = partSettings({ group: 'Events', settings: SETTINGS, of: pushOf, faults: pushFaults });
