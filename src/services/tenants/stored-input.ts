import { descriptorOfInput, descriptorTypes } from '../../descriptors/registry.ts';
import { storedId, type Tenant, tenantOf } from '../../domain/tenant.ts';
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { UserId } from '../../domain/action.ts';

/** Converts cursors to the form given to clients and back. Both forms are base64url. */
export interface CursorSeal {
  /** The cursor in the form given to this member. */
  shown(userId: UserId, cursor: string): string;
  /** The cursor a client returned; an empty text, invalid in every list, if it was not issued to their tenant. */
  given(userId: UserId, text: string): string;
}

/** Without tenants cursors are not sealed. */
export const UNSEALED: CursorSeal = { shown: (_userId, cursor) => cursor, given: (_userId, text) => text };

const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** Not a valid cursor of any list. */
const NO_CURSOR = '';

/**
 * Encrypts cursors and authenticates them together with the tenant: a cursor works only in its tenant and reveals neither
 * its owner, nor its position, nor the activity of others. Deterministic: the tag over tenant and cursor is the
 * initialisation vector, as in SIV modes.
 * @param key the same in all processes
 */
export function cursorSeal(key: Uint8Array): CursorSeal {
  const [tagKey, textKey] = ['fanfare cursor tags', 'fanfare cursor texts'].map((purpose) =>
    Buffer.from(hkdfSync('sha256', key, '', purpose, KEY_BYTES)),
  ) as [Buffer, Buffer];
  const tagOf = (tenant: Tenant, cursor: Buffer): Buffer =>
    createHmac('sha256', tagKey).update(`${tenant}\0`).update(cursor).digest().subarray(0, TAG_BYTES);
  return {
    shown(userId, text) {
      const tenant = requiredTenant(userId);
      // There is no position yet, such as before the first event.
      if (text === NO_CURSOR) return text;
      const cursor = Buffer.from(text, 'base64url');
      const tag = tagOf(tenant, cursor);
      const cipher = createCipheriv('aes-256-ctr', textKey, tag);
      return Buffer.concat([tag, cipher.update(cursor), cipher.final()]).toString('base64url');
    },
    given(userId, text) {
      const tenant = requiredTenant(userId);
      const bytes = Buffer.from(text, 'base64url');
      // Accept only the canonical spelling: the decoder would skip unknown characters.
      if (bytes.length <= TAG_BYTES || bytes.toString('base64url') !== text) return NO_CURSOR;
      const tag = bytes.subarray(0, TAG_BYTES);
      const decipher = createDecipheriv('aes-256-ctr', textKey, tag);
      const cursor = Buffer.concat([decipher.update(bytes.subarray(TAG_BYTES)), decipher.final()]);
      return timingSafeEqual(tagOf(tenant, cursor), tag) ? cursor.toString('base64url') : NO_CURSOR;
    },
  };
}

function requiredTenant(userId: UserId): Tenant {
  const tenant = tenantOf(userId);
  if (tenant === null) throw new Error('Tenants are on, and a cursor is for somebody without one');
  return tenant;
}

/**
 * Names of input properties that contain application ids, single or in a list. A property with one of these names is an id
 * in every input; a test checks that each text of the API is either listed here or known not to be an id.
 */
export const HOST_ID_NAMES: ReadonlySet<string> = new Set([
  'memberId',
  'refId',
  'actorId',
  'actorIds',
  'followerId',
  'mentions',
  'recipients',
  'teamId',
  'departmentId',
  'supervisorId',
]);

/** Lists of objects with an `id`. */
const REFS = 'refs';
const DESCRIPTOR = 'descriptor';
/** Free JSON: not converted. */
const DATA = 'data';

type Input = Readonly<Record<string, unknown>>;

/**
 * Converts arguments to the form services expect: with the tenant prefix on every application id. The only place that adds
 * it, for API, library and commands alike. Global ids and cursors are not converted.
 */
export function storedInput<T>(tenant: Tenant, input: T): T {
  return convert(tenant, input) as T;
}

function convert(tenant: Tenant, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((inner: unknown) => convert(tenant, inner));
  if (!isInput(value)) return value;
  return mapped(value, (name, inner) => {
    if (HOST_ID_NAMES.has(name)) return ids(tenant, inner);
    if (name === DATA) return inner;
    if (name === DESCRIPTOR && isInput(inner)) return descriptor(tenant, inner);
    if (name === REFS && Array.isArray(inner)) return inner.map((ref: unknown) => refOf(tenant, ref));
    return convert(tenant, inner);
  });
}

function ids(tenant: Tenant, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((inner: unknown) => ids(tenant, inner));
  return typeof value === 'string' ? storedId(tenant, value) : value;
}

function refOf(tenant: Tenant, ref: unknown): unknown {
  return isInput(ref) ? mapped(ref, (name, inner) => (name === 'id' ? ids(tenant, inner) : inner)) : ref;
}

/** A descriptor, or a filter on one of its fields. */
function descriptor(tenant: Tenant, value: Input): Input {
  const { field, value: wanted } = value;
  if (typeof field === 'string' && typeof wanted === 'string')
    return isIdField(field) ? { ...value, value: storedId(tenant, wanted) } : value;
  return mapped(value, (name, body) => {
    const fields = descriptorOfInput(name)?.fields;
    if (fields === undefined || !isInput(body)) return body;
    return mapped(body, (key, inner) => (fields[key]?.kind === 'id' ? ids(tenant, inner) : inner));
  });
}

/** Whether a filterable field contains ids; fields of several types may share its name. */
function isIdField(name: string): boolean {
  return descriptorTypes().some(({ fields }) => fields[name]?.kind === 'id');
}

function isInput(value: unknown): value is Input {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function mapped(input: Input, change: (name: string, value: unknown) => unknown): Input {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, change(name, value)]));
}
