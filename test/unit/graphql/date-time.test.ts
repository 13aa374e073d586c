import { expect, test } from 'vitest';
import { parseDateTime } from '../../../src/graphql/types/scalars.ts';
import { fc } from '../../support/fast-check.ts';

test.each([
  ['2014-02-10T10:50:42.389Z', '2014-02-10T10:50:42.389Z'],
  ['2014-02-10T10:50:42Z', '2014-02-10T10:50:42.000Z'],
  ['2014-02-10T10:50:42.3Z', '2014-02-10T10:50:42.300Z'],
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
])('reads %s', (text, expected) => {
  expect(parseDateTime(text)?.toISOString()).toBe(expected);
});

test.each([
  '',
  'now',
  '2014-02-10',
  '2014-02-10T10:50Z',
  '2014-02-10T10:50:42',
  '2014-02-10 10:50:42Z',
  '2014-02-10T10:50:42+00:00',
  '2014-02-10T10:50:42.1234Z',
  '2014-02-10T10:50:42.Z',
  '2014-02-10t10:50:42z',
  ' 2014-02-10T10:50:42Z',
  '2023-02-29T00:00:00Z',
  '2023-02-30T00:00:00Z',
  '2023-13-01T00:00:00Z',
  '2023-00-01T00:00:00Z',
  '2023-01-32T00:00:00Z',
  '2023-01-01T24:00:00Z',
  '2023-01-01T23:60:00Z',
  '2023-01-01T23:59:60Z',
  '1969-12-31T23:59:59.999Z',
  '+012023-01-01T00:00:00Z',
  '１９９９-01-01T00:00:00Z',
])('rejects "%s"', (text) => {
  expect(parseDateTime(text)).toBeNull();
});

test('reads every time in its range exactly', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date(0), max: new Date(Date.UTC(9999, 11, 31)), noInvalidDate: true }),
      (date) => {
        expect(parseDateTime(date.toISOString())).toEqual(date);
      },
    ),
  );
});
