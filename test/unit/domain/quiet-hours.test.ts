import { fc } from '../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import type { QuietHours } from '../../../src/domain/notification.ts';
import { quietUntil } from '../../../src/domain/quiet-hours.ts';

const night = (timeZone: string, given: Partial<QuietHours> = {}): QuietHours => ({
  ...{ from: '22:00', to: '07:00', timeZone, days: null },
  ...given,
});

const until = (hours: QuietHours, now: string): string | null =>
  quietUntil(hours, new Date(now))?.toISOString().replace(':00.000Z', 'Z') ?? null;

test.each([
  ['before they begin', '2026-06-01T19:59Z', null],
  ['when they begin', '2026-06-01T20:00Z', '2026-06-02T05:00Z'],
  ['after midnight', '2026-06-02T01:00Z', '2026-06-02T05:00Z'],
  ['when they end', '2026-06-02T05:00Z', null],
])('hours over midnight, %s', (_when, now, end) => {
  expect(until(night('Europe/Berlin'), now)).toBe(end);
});

test.each([
  ['Sunday evening', '2026-11-22T22:30Z', null],
  ['Monday evening', '2026-11-23T22:30Z', '2026-11-24T07:00Z'],
  ['the morning after, which is a Tuesday', '2026-11-24T06:30Z', '2026-11-24T07:00Z'],
  ['Tuesday evening', '2026-11-24T22:30Z', null],
  ['Sunday noon', '2026-11-22T12:00Z', null],
])('days are those on which the hours begin: %s', (_when, now, end) => {
  expect(until(night('UTC', { days: [1] }), now)).toBe(end);
});

test('hours within a day end on the same day', () => {
  const hours = night('UTC', { from: '12:00', to: '13:30', days: [7] });
  expect(until(hours, '2026-11-22T12:00Z')).toBe('2026-11-22T13:30Z');
  expect(until(hours, '2026-11-22T13:30Z')).toBeNull();
  expect(until(hours, '2026-11-23T12:00Z')).toBeNull();
});

describe('daylight saving time', () => {
  test.each([
    ['Europe/Berlin, forward', 'Europe/Berlin', '2026-03-28T21:00Z', '2026-03-29T05:00Z'],
    ['Europe/Berlin, back', 'Europe/Berlin', '2026-10-24T20:00Z', '2026-10-25T06:00Z'],
    ['America/New_York, forward', 'America/New_York', '2026-03-08T03:00Z', '2026-03-08T11:00Z'],
    ['America/New_York, back', 'America/New_York', '2026-11-01T02:00Z', '2026-11-01T12:00Z'],
    [
      'Australia/Lord_Howe, half an hour forward',
      'Australia/Lord_Howe',
      '2026-10-03T11:30Z',
      '2026-10-03T20:00Z',
    ],
    [
      'Australia/Lord_Howe, half an hour back',
      'Australia/Lord_Howe',
      '2026-04-04T11:00Z',
      '2026-04-04T20:30Z',
    ],
  ])('%s: a night lasts as long as the clock says', (_which, timeZone, begin, end) => {
    const hours = night(timeZone);
    expect(until(hours, begin)).toBe(end);
    expect(quietUntil(hours, new Date(Date.parse(begin) - 1))).toBeNull();
    expect(until(hours, new Date(Date.parse(end) - 1).toISOString())).toBe(end);
    expect(until(hours, end)).toBeNull();
  });

  test('a time that the clock skips is when it was set forward', () => {
    // From 2:00 to 3:00 at 1:00 UTC.
    const skipped = '2026-03-29T01:00Z';
    const begin = night('Europe/Berlin', { from: '02:30', to: '05:00' });
    expect(until(begin, skipped)).toBe('2026-03-29T03:00Z');
    expect(until(begin, '2026-03-29T00:59Z')).toBeNull();
    const end = night('Europe/Berlin', { from: '23:00', to: '02:30' });
    expect(until(end, '2026-03-29T00:59Z')).toBe(skipped);
    expect(until(end, skipped)).toBeNull();
  });

  test('a time that the clock shows twice begins them at the first, and ends them at the second', () => {
    // From 3:00 to 2:00 at 1:00 UTC.
    const begin = night('Europe/Berlin', { from: '02:30', to: '05:00' });
    expect(until(begin, '2026-10-25T00:30Z')).toBe('2026-10-25T04:00Z');
    const end = night('Europe/Berlin', { from: '23:00', to: '02:30' });
    expect(until(end, '2026-10-25T00:45Z')).toBe('2026-10-25T01:30Z');
    expect(until(end, '2026-10-25T01:30Z')).toBeNull();
  });
});

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'];
const timeOfDay = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));

/** Whether the clock on the wall shows a time within the hours. */
function showsQuiet({ from, to, timeZone, days }: QuietHours, now: Date): boolean {
  const shown = now.toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
  const name = now.toLocaleDateString('en', { timeZone, weekday: 'short' });
  const day = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(name) + 1;
  const begins = (of: number): boolean => days === null || days.includes(of);
  if (from < to) return begins(day) && from <= shown && shown < to;
  return (begins(day) && from <= shown) || (begins(day === 1 ? 7 : day - 1) && shown < to);
}

test('it is quiet exactly while the clock on the wall shows the hours, but for an hour that it shows twice', () => {
  const offsetAt = (timeZone: string, time: number): string =>
    new Date(time).toLocaleTimeString('en', { timeZone, timeZoneName: 'longOffset' }).slice(-6);
  fc.assert(
    fc.property(
      fc.date({ min: new Date('2024-01-01'), max: new Date('2030-01-01'), noInvalidDate: true }),
      fc.record<QuietHours>({
        ...{ from: timeOfDay, to: timeOfDay, timeZone: fc.constantFrom(...ZONES) },
        days: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), { nil: null }),
      }),
      (now, hours) => {
        fc.pre(hours.from !== hours.to);
        const end = quietUntil(hours, now);
        if (showsQuiet(hours, now)) expect(end).not.toBeNull();
        const around = [-1, 1].map((days) => offsetAt(hours.timeZone, now.getTime() + days * 86_400_000));
        if (around[0] === around[1]) expect(end !== null).toBe(showsQuiet(hours, now));
        if (end !== null) expect(end.getTime()).toBeGreaterThan(now.getTime());
      },
    ),
  );
});
