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
  ['application/json;q=0', false, false],
  ['application/json; q=0.000, text/event-stream;q=0.5', true, true],
  ['text/event-stream;q=0, */*;q=0.1', true, false],
  ['nonsense', false, false],
])('accept: %s – whole answers %s, events %s', (accept, answers, events) => {
  expect([acceptsAnswers(accept), acceptsEvents(accept)]).toEqual([answers, events]);
});
