import { expect, test } from 'vitest';
import { acceptsAnswers, acceptsEvents } from '../../../src/http/exchange/accept.ts';

test.each([
  [null, true, true],
  ['', true, true],
  ['*/*', true, true],
  ['text/event-stream', true, true],
  ['text/*', true, true],
  ['text/html,application/xhtml+xml,*/*;q=0.8', true, true],
  ['application/json', true, false],
  ['application/*', true, false],
  ['APPLICATION/JSON', true, false],
  ['application/graphql-response+json; charset=utf-8, application/json; charset=utf-8', true, false],
  ['application/json;charset=latin1', false, false],
  ['multipart/mixed', true, false],
  ['text/html', false, false],
  ['image/png, image/*', false, false],
  ['nonsense', false, false],
])('accept: %s – whole answers %s, events %s', (accept, answers, events) => {
  expect([acceptsAnswers(accept), acceptsEvents(accept)]).toEqual([answers, events]);
});
