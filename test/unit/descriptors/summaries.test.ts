import { expect, test } from 'vitest';
import { descriptorOfInput } from '../../../src/descriptors/registry.ts';

test.each([
  ['posted', { postId: 'p', postTitle: 'Hello' }, 'posted Hello'],
  ['posted', { postId: 'p', text: 'Hi all' }, 'posted something'],
  ['followed', { followedId: 'm', followedName: 'Mary' }, 'followed Mary'],
  ['liked', { objectType: 'post', objectId: 'p', objectName: 'Hello' }, 'liked post Hello'],
  ['liked', { objectType: 'comment', objectId: 'c' }, 'liked comment'],
  ['commented', { postId: 'p', postTitle: 'Hello', commentId: 'c' }, 'commented on Hello'],
  ['commented', { postId: 'p', commentId: 'c' }, 'commented on a post'],
])('%s %j reads "%3$s"', (inputName, values, summary) => {
  expect(descriptorOfInput(inputName)?.summary(values)).toBe(summary);
});
