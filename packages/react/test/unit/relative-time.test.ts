import { afterEach, expect, test, vi } from 'vitest';
import { languageOfPage, relativeTime } from '../../src/hooks/relative-time.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('yesterday is the previous day, and other times count calendar days too', () => {
  // In the time zone of this machine, as in that of a browser.
  const now = new Date(2026, 0, 7, 22).getTime();
  const said = (day: number, hour: number): string =>
    relativeTime(new Date(2026, 0, day, hour).toISOString(), now, 'en');
  expect(said(6, 23)).toBe('23 hours ago');
  expect(said(6, 21)).toBe('yesterday');
  expect(said(6, 1)).toBe('yesterday');
  expect(said(5, 23)).toBe('2 days ago');
  expect(said(5, 1)).toBe('2 days ago');
  expect(relativeTime(new Date(now + 60_000).toISOString(), now, 'en')).toBe('now');
});

test("a page with an unknown language shows times in the browser's language", () => {
  expect(languageOfPage()).toBeUndefined();
  const documentElement = { lang: '' };
  vi.stubGlobal('document', { documentElement });
  for (const [lang, used] of [
    ['de-CH', 'de-CH'],
    ['', undefined],
    ['en_US', undefined],
  ] as const) {
    documentElement.lang = lang;
    expect(languageOfPage()).toBe(used);
    expect(relativeTime('2026-01-01T00:00:00.000Z', Date.UTC(2026, 0, 1, 2), languageOfPage())).toMatch(/2/);
  }
});
