import { expect, it } from 'vitest';
import { mongoCode, sqlstateOf } from '../../src/gateway/engine-errors.ts';

it.each([
  ['53100', 'could not extend file "base/5/1": No space left on device', 14_031],
  ['XX000', 'could not write to file "cursor_1": No space left on device', 14_031],
  ['58030', 'could not read block 1: Input/output error', 39],
  ['25006', 'cannot execute INSERT in a read-only transaction', 10_107],
  ['57P01', 'terminating connection due to administrator command', 91],
  ['57P02', 'terminating connection because of crash of another server process', 91],
  ['57P03', 'the database system is in recovery mode', 91],
  ['XX000', 'something else', 1],
])('the state %s (%s) is %i in MongoDB', (state, message, code) => {
  expect(mongoCode(state, message)).toBe(code);
});

it.each([
  [4_293, '53100'],
  [8_389, '53200'],
  [786_949, '58030'],
  [16_908_741, '57P01'],
  [11_000, undefined],
  [2, undefined],
])('the write error number %i is the state %s', (number, state) => {
  expect(sqlstateOf(number)).toBe(state);
});
