import { expect, test } from 'vitest';
import {
  encodeActionId,
  encodeMemberId,
  encodeNewsfeedItemId,
  parseActionId,
  parseGlobalId,
} from '../../../src/graphql/global-id.ts';
import { fc } from '../../support/fast-check.ts';

const actionIds = fc.stringMatching(/^[0-9a-f]{24}$/);
const userIds = fc
  .string({ minLength: 1, maxLength: 256, unit: 'grapheme' })
  .filter((id) => id.isWellFormed());

test('decodes what it encoded, whatever characters an id contains', () => {
  fc.assert(
    fc.property(actionIds, userIds, (actionId, userId) => {
      expect(parseGlobalId(encodeActionId(actionId), [])).toEqual({ type: 'Action', actionId });
      expect(parseGlobalId(encodeMemberId(userId), [])).toEqual({ type: 'Member', userId });
      const item = { type: 'NewsfeedItem', userId, actionId };
      expect(parseGlobalId(encodeNewsfeedItemId(userId, actionId), [])).toEqual(item);
    }),
  );
});

test('treats any text as a valid id or a client error, never as an internal error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
      try {
        parseGlobalId(text, ['id']);
      } catch (error) {
        expect(error).toMatchObject({ code: 'BAD_USER_INPUT', issues: [{ path: ['id'] }] });
      }
    }),
  );
});

test('has one id per object', () => {
  const id = encodeMemberId('bob');
  expect(id).toMatch(/=$/);
  for (const other of [id.replaceAll('=', ''), `${id}\n`, id.replace(/=$/, '==')])
    expect(() => parseGlobalId(other, [])).toThrow('Not an id of this API');
});

test('names an unknown type, so that it finds nothing', () => {
  expect(parseGlobalId(Buffer.from('Spaceship:1').toString('base64'), [])).toEqual({
    type: 'other',
    name: 'Spaceship',
    key: '1',
  });
});

test('rejects ids of other types where an action is expected', () => {
  expect(() => parseActionId(encodeMemberId('bob'), ['id'])).toThrow('Not the id of an action');
});
