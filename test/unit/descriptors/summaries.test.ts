import { expect, test } from 'vitest';
import { descriptorOfInput } from '../../../src/descriptors/registry.ts';
import { defineGroupSentence, defineSentence } from '../../../src/descriptors/sentence.ts';
import { sentenceOf } from '../../support/sentence.ts';

const RATED = { raterId: 'b', raterName: 'Bob', applicantId: 'm', applicantName: 'Mary' };

test.each([
  ['posted', { postId: 'p', postTitle: 'Hello' }, 'Ann posted Hello', 'Ann hat Hello veröffentlicht'],
  ['posted', { postId: 'p', text: 'Hi' }, 'Ann posted something', 'Ann hat etwas veröffentlicht'],
  ['followed', { followedId: 'm', followedName: 'Mary' }, 'Ann followed Mary', 'Ann folgt Mary'],
  [
    'liked',
    { objectType: 'post', objectId: 'p', objectName: 'Hello' },
    'Ann liked the post Hello',
    'Ann gefällt Hello (post)',
  ],
  ['liked', { objectType: 'comment', objectId: 'c' }, 'Ann liked the comment', 'Ann gefällt etwas (comment)'],
  [
    'commented',
    { postId: 'p', postTitle: 'Hello', commentId: 'c' },
    'Ann commented on Hello',
    'Ann hat Hello kommentiert',
  ],
  [
    'commented',
    { postId: 'p', commentId: 'c' },
    'Ann commented on a post',
    'Ann hat einen Beitrag kommentiert',
  ],
  [
    'applicationRating',
    { ...RATED, positionId: 'j', positionName: 'Engineer', ratingScore: 4.5 },
    'Bob rated Mary 4.5 for Engineer',
    'Bob hat Mary für Engineer mit 4,5 bewertet',
  ],
  [
    'applicantRatingRequested',
    { applicantId: 'm', applicantName: 'Mary', requestedFromId: 'b', requestedFromName: 'Bob' },
    'Ann asked Bob to rate Mary',
    'Ann hat Bob gebeten, Mary zu bewerten',
  ],
  ['custom', { verb: 'wrote', objectType: 'note', objectId: 'n1' }, 'Ann wrote note n1', 'Ann wrote note n1'],
])('%s %j reads "%3$s" and "%4$s"', (inputName, values, english, german) => {
  const descriptor = descriptorOfInput(inputName);
  if (descriptor === undefined) throw new Error(`There is no ${inputName}`);
  expect(sentenceOf(descriptor, values, 'en')).toBe(english);
  expect(sentenceOf(descriptor, values, 'de')).toBe(german);
});

test('a message with an unknown field is rejected at declaration', () => {
  expect(() => defineSentence({ en: '{actor} built {house}', de: '{actor}' }, {})).toThrow(
    'Unknown field house in the message "{actor} built {house}"',
  );
});

test('names keep their positions in a formatted sentence', () => {
  const fields = { guestId: { kind: 'id' }, guests: { kind: 'number' } };
  const message = '{actor} invited {guests, plural, one {{guestId}} other {{guestId} and others}}';
  const sentence = defineSentence({ en: message, de: message }, fields);
  expect(sentence.ids).toEqual(['actor', 'guestId']);
  expect(sentence.parts('en', { fields: { guests: 2 }, hasName: () => true })).toEqual([
    { id: 'actor' },
    ' invited ',
    { id: 'guestId' },
    ' and others',
  ]);
});

test('a group sentence that shows a field in which its actions can differ is rejected at declaration', () => {
  const fields = { topicId: { kind: 'id' }, minutes: { kind: 'number' } };
  const messages = { en: '{actor} talked for {minutes, number} about {topicId}', de: '{actor}' };
  expect(() => defineGroupSentence(messages, fields, ['topicId'])).toThrow(
    'A sentence about a group cannot show minutes, in which its actions differ',
  );
  expect(defineGroupSentence(messages, fields, ['topicId', 'minutes']).ids).toEqual(['actor', 'topicId']);
});
