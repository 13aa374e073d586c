import { bsonType, type Peeked } from './bson/peek.ts';
import { numberOf, selectFields, textOf } from './bson/values.ts';
import { commandError } from './errors.ts';
import type { Request } from './wire/request.ts';

/** Fields that belong to sessions, topologies and API versions: the gateway's business, not the engine's. */
const envelope = new Set([
  '$db',
  'lsid',
  '$clusterTime',
  '$readPreference',
  '$audit',
  '$client',
  '$configServerState',
  '$oplogQueryData',
  '$queryOptions',
  '$replData',
  'txnNumber',
  'stmtId',
  'stmtIds',
  'autocommit',
  'startTransaction',
  'apiVersion',
  'apiStrict',
  'apiDeprecationErrors',
  'maxTimeMS',
  'readConcern',
  'writeConcern',
  'comment',
]);

/** The command as the engine gets it. */
export function engineSpec(body: Peeked, without: readonly string[] = []): Buffer {
  return selectFields(body, (field) => !envelope.has(field.name) && !without.includes(field.name));
}

/** The collection a command names in its first field. Throws InvalidNamespace when it is not a name. */
export function collectionOf(request: Request): string {
  const name = textOf(request.body, request.name);
  if (name === undefined) {
    throw commandError('InvalidNamespace', `The field "${request.name}" must name a collection`);
  }
  if (name === '') throw commandError('InvalidNamespace', `Invalid namespace specified '${request.db}.'`);
  return name;
}

/** The command's `maxTimeMS`; undefined when there is none or it is 0, which means no limit. Throws BadValue. */
export function maxTimeOf(body: Peeked): number | undefined {
  if (!body.fields.has('maxTimeMS')) return undefined;
  const limit = numberOf(body, 'maxTimeMS');
  if (limit === undefined || !Number.isInteger(limit) || limit < 0 || limit > 2_147_483_647) {
    throw commandError('BadValue', 'maxTimeMS must be an integer from 0 to 2147483647');
  }
  return limit === 0 ? undefined : limit;
}

/** The session that sent the command, as hex; empty when it named none. */
export function sessionOf(body: Peeked): string {
  const field = body.fields.get('lsid');
  if (field?.type !== bsonType.document) return '';
  return body.bytes.toString('hex', field.value, field.end);
}
