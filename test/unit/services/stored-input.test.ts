import {
  getNamedType,
  type GraphQLInputObjectType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLInputType,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { descriptorTypes } from '../../../src/descriptors/registry.ts';
import { storedId } from '../../../src/domain/stored-id.ts';
import { buildSchema } from '../../../src/app/schema.ts';
import { HOST_ID_NAMES, storedInput } from '../../../src/core/stored-input.ts';

/** Texts of the API that are no ids of the host application. A field that is neither here nor an id has to be decided on. */
const TEXTS: ReadonlySet<string> = new Set([
  ...['after', 'before', 'types', 'type', 'tags', 'phrase', 'reason', 'text', 'label', 'name', 'locale'],
  ...['idempotencyKey', 'imageUrl', 'url', 'reaction', 'field', 'search', 'outcome', 'view', 'email'],
  // Of pictures.
  ...['alt', 'blurhash'],
  // Of quiet hours and of push messages.
  ...['from', 'to', 'timeZone', 'endpoint', 'p256dh', 'auth'],
]);

const schema = await buildSchema();

interface Place {
  /** Such as `publishAction.input.refs.id`. */
  readonly path: string;
  readonly name: string;
}

/** An argument with a text in every field, and the places of all of them. */
function sample(
  type: GraphQLInputType,
  path: string,
  places: Place[],
  seen: readonly string[] = [],
): unknown {
  if (isNonNullType(type)) return sample(type.ofType, path, places, seen);
  if (isListType(type)) return [sample(type.ofType, path, places, seen)];
  if (isInputObjectType(type)) return object(type, path, places, [...seen, type.name]);
  if (getNamedType(type).name !== 'String') return null;
  places.push({ path, name: path.split('.').at(-1) ?? '' });
  return path;
}

function object(
  type: GraphQLInputObjectType,
  path: string,
  places: Place[],
  seen: readonly string[],
): object {
  const entries = Object.values(type.getFields()).map((field) => [
    field.name,
    seen.includes(getNamedType(field.type).name)
      ? null
      : sample(field.type, `${path}.${field.name}`, places, seen),
  ]);
  return Object.fromEntries(entries) as object;
}

/** Fields of declared types, which say themselves what they are. */
function declaredKind(path: string): string | null {
  const [inputName, name] = path.split('.').slice(-2);
  const type = descriptorTypes().find((one) => one.inputName === inputName);
  if (!path.includes('.descriptor.') || type === undefined) return null;
  return name === 'tags' ? 'text' : (type.fields[name ?? '']?.kind ?? null);
}

function isId({ path, name }: Place): boolean | null {
  const kind = declaredKind(path);
  if (kind !== null) return kind === 'id';
  if (name === 'id') return path.endsWith('.refs.id');
  if (path.endsWith('.descriptor.value')) return null;
  if (HOST_ID_NAMES.has(name)) return true;
  return TEXTS.has(name) ? false : null;
}

const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
const fields = Object.values(schema.getTypeMap())
  .flatMap((type) =>
    'getFields' in type && !isInputObjectType(type) && !type.name.startsWith('__')
      ? Object.values(type.getFields()).map((field) => ({ type, field }))
      : [],
  )
  .filter(({ field }) => field.args.length > 0);

test.each(fields.map(({ type, field }) => [`${type.name}.${field.name}`, field] as const))(
  'classifies each text of %s as an id or not',
  (_name, field) => {
    const places: Place[] = [];
    const args = Object.fromEntries(
      field.args.map((arg) => [arg.name, sample(arg.type, `${field.name}.${arg.name}`, places)]),
    );
    const undecided = places.filter(
      (place) => isId(place) === null && !place.path.endsWith('.descriptor.value'),
    );
    expect(undecided).toEqual([]);
    const text = JSON.stringify(storedInput('acme', args));
    for (const place of places.filter((one) => isId(one) !== null)) {
      const stored = JSON.stringify(storedId('acme', place.path));
      expect({ ...place, isStored: text.includes(stored) }).toEqual({ ...place, isStored: isId(place) });
    }
  },
);

test('covers every operation', () => {
  expect(roots.every((root) => root != null)).toBe(true);
  expect(fields.length).toBeGreaterThan(40);
});

describe('the mapping of ids skips', () => {
  test('free JSON, whatever its property names', () => {
    const data = { memberId: 'ann', refs: [{ id: 'x' }], descriptor: { posted: { postId: 'p' } } };
    expect(storedInput('acme', { members: [{ memberId: 'ann', data }] })).toEqual({
      members: [{ memberId: storedId('acme', 'ann'), data }],
    });
    const custom = { verb: 'v', objectType: 't', objectId: 'o', data };
    expect(storedInput('acme', { input: { descriptor: { custom } } })).toEqual({
      input: { descriptor: { custom: { ...custom, objectId: storedId('acme', 'o') } } },
    });
  });

  test('missing values, dates and numbers', () => {
    const input = { actorId: null, mentions: undefined, conducted: new Date(0), first: 3 };
    expect(storedInput('acme', input)).toEqual(input);
  });
});

test('adds the tenant to the value of a filter if the field contains ids', () => {
  const filter = { descriptor: { field: 'raterId', value: 'bob' } };
  expect(storedInput('acme', { filter })).toEqual({
    filter: { descriptor: { field: 'raterId', value: storedId('acme', 'bob') } },
  });
  const other = { descriptor: { field: 'nothing', value: 'bob' } };
  expect(storedInput('acme', { filter: other })).toEqual({ filter: other });
});

test('does not change its input', () => {
  const input = Object.freeze({
    pairs: Object.freeze([Object.freeze({ followerId: 'ann', refId: 'site' })]),
  });
  storedInput('acme', input);
  expect(input.pairs[0]).toEqual({ followerId: 'ann', refId: 'site' });
});
