import { isInputObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readRecord, SCHEMAS, type RecordKind } from '../../src/records.ts';
import { buildSchema } from '../../../../src/app/schema.ts';

function read(kind: RecordKind, value: unknown, number = 7) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return readRecord(kind, { number, text, fault: null });
}

const CUSTOM = { custom: { verb: 'saw', objectType: 'bird', objectId: 'b1' } };

describe('readRecord', () => {
  it('reads a line of each kind', () => {
    expect(read('members', { memberId: 'u1', name: 'Ann', teamId: null })).toMatchObject({
      line: 7,
      fault: null,
    });
    expect(read('refs', { id: 'r1', type: 'site', label: 'Berlin' })).toMatchObject({ fault: null });
    expect(read('follows', { followerId: 'u1', refId: 'r1' })).toMatchObject({ fault: null });
    expect(
      read('actions', { idempotencyKey: 'k', conducted: '2020-01-02T03:04:05+01:00', descriptor: CUSTOM }),
    ).toMatchObject({
      record: { idempotencyKey: 'k', conducted: new Date('2020-01-02T02:04:05Z'), descriptor: CUSTOM },
    });
  });

  it.each<[RecordKind, string]>([
    ['members', 'MemberInput'],
    ['refs', 'RefInput'],
    ['follows', 'FollowInput'],
    ['actions', 'PublishActionInput'],
  ])('accepts for %s the fields of %s and no others', async (kind, name) => {
    const input = (await buildSchema()).getType(name);
    if (!isInputObjectType(input)) throw new Error(`${name} is no input`);
    // What is imported has happened.
    const fields = Object.keys(input.getFields()).filter((field) => field !== 'publishAt');
    expect(Object.keys(SCHEMAS[kind].shape).sort()).toEqual(fields.sort());
  });

  it('reads the optional fields of follows and actions', () => {
    const follow = { followerId: 'u1', refId: 'r1', types: ['Posted'], isAssigned: true };
    expect(read('follows', follow)).toMatchObject({ fault: null, record: follow });
    const ref = { id: 'r1', type: 'site', label: 'Berlin' };
    const action = { descriptor: CUSTOM, refs: [ref], expiresAt: '2099-01-02T03:04:05Z' };
    expect(read('actions', action)).toMatchObject({
      fault: null,
      record: { refs: [ref], expiresAt: new Date('2099-01-02T03:04:05Z') },
    });
  });

  it.each<[RecordKind, unknown, string]>([
    ['members', '{"memberId":', 'The line is not JSON'],
    ['members', [1], 'Invalid input: expected object, received array'],
    ['members', { memberId: 'u1' }, 'name: Invalid input: expected string, received undefined'],
    ['follows', { followerId: 'u1', refId: 'r1', since: 1 }, 'Unrecognized key: "since"'],
    ['actions', { descriptor: {} }, 'descriptor: Must have exactly one descriptor'],
    [
      'actions',
      { descriptor: { ...CUSTOM, newApplicant: {} } },
      'descriptor: Must have exactly one descriptor',
    ],
    ['actions', { descriptor: { unknown: {} } }, 'descriptor: Unrecognized key: "unknown"'],
    ['actions', { descriptor: CUSTOM, conducted: 'yesterday' }, 'conducted: Invalid ISO datetime'],
    ['actions', { descriptor: CUSTOM, scope: 'ALL' }, 'scope: Invalid option'],
    ['actions', { descriptor: { custom: { verb: 'saw' } } }, 'descriptor.custom.objectType: '],
  ])('refuses %s %j', (kind, value, fault) => {
    const record = read(kind, value);
    expect(record.record).toBeNull();
    expect(record.fault).toContain(fault);
  });

  it('reports all faults of a line', () => {
    expect(read('refs', { id: 1, type: 2, label: 'x' }).fault).toMatch(/^id: .*; type: /);
  });

  it('reports why a line could not be read', () => {
    expect(readRecord('refs', { number: 3, text: null, fault: 'Too long' })).toEqual({
      line: 3,
      record: null,
      fault: 'Too long',
    });
  });

  it('gives an action without a key one that is derived from its line, always the same and different for each line', () => {
    const key = (number: number, value: object) =>
      (read('actions', value, number).record as { idempotencyKey: string }).idempotencyKey;
    const action = { actorId: 'u1', descriptor: CUSTOM };
    expect(key(1, action)).toBe(key(1, action));
    expect(key(1, action)).not.toBe(key(2, action));
    expect(key(1, action)).not.toBe(key(1, { ...action, actorId: 'u2' }));
    expect(key(1, action).length).toBeLessThan(256);
  });
});
