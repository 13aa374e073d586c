import { afterAll, expect, test } from 'vitest';
import { findBrowser, ofBrowser } from '../../../../test/support/browser.ts';
import { picture } from '../../../../test/support/console.ts';
import type { MailContent } from '../../src/host.ts';
import { writtenMail } from '../../src/template.ts';

// Mails as a mail program shows them that knows styles.

const found = await findBrowser();
afterAll(async () => {
  if (typeof found !== 'string') await found.close();
});

const HOSTILE = '</bdi><img src="https://evil.example/x"><script>alert(1)</script> "\'&';
const LONG = 'Featherstonehaugh'.repeat(8);

const notification = (name: string, rest: string): MailContent['notifications'][number] => ({
  ...{ id: name, kind: 'COMMENT', text: `${name} ${rest}`, at: new Date(0) },
  parts: [
    { text: name, isName: true },
    { text: ` ${rest}`, isName: false },
  ],
  link: `https://app.example/open?id=${encodeURIComponent(name)}`,
});

const MAIL: MailContent = {
  ...{ memberId: 'ann', name: 'Ann', locale: 'en', timeZone: 'UTC', more: 0, digest: null },
  ...{
    notifications: [],
    link: 'https://app.example/',
    unsubscribe: 'https://feed.example/mail/unsubscribe?t=x',
  },
};

const MAILS: readonly (readonly [string, MailContent])[] = [
  ['one notification', { ...MAIL, notifications: [notification('Zoe', 'commented on your post')] }],
  [
    'a digest',
    {
      ...{ ...MAIL, locale: 'de' },
      digest: {
        ...{ count: 12, isExact: true },
        items: [HOSTILE, LONG, 'Bea'].map((name) => notification(name, 'hat etwas geschrieben')),
      },
    },
  ],
  [
    'several, with hostile and long names',
    {
      ...{ ...MAIL, more: 3, digest: { count: 100, isExact: false, items: [notification('Bea', 'wrote')] } },
      notifications: [HOSTILE, LONG, 'דנה'].map((name) => notification(name, 'liked your post')),
    },
  ],
];

const LOOKS = [600, 390].flatMap((width) => (['light', 'dark'] as const).map((look) => ({ width, look })));

test.skipIf(typeof found === 'string').each(MAILS)(
  '%s is readable at each width in both looks, and loads nothing',
  async (what, mail) => {
    const browser = ofBrowser(found);
    for (const { width, look } of LOOKS) {
      const page = await browser.newPage();
      const asked: string[] = [];
      page.on('request', (request) => void asked.push(request.url()));
      await page.setViewport({ width, height: 800 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: look }]);
      await page.setContent(writtenMail(mail, 'Fanfare').html);
      await picture(page, `mail-${what.replaceAll(/\W+/g, '-')}-${String(width)}-${look}`);
      const seen = await page.evaluate(() => {
        const light = (colour: string): number => {
          const [r = 0, g = 0, b = 0] = (colour.match(/\d+/g) ?? []).map((value) => {
            const part = Number(value) / 255;
            return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const behind = (element: Element | null): string => {
          if (element === null) return 'rgb(255, 255, 255)';
          const { backgroundColor } = getComputedStyle(element);
          return backgroundColor === 'rgba(0, 0, 0, 0)' ? behind(element.parentElement) : backgroundColor;
        };
        const texts = [...document.querySelectorAll('h1, a, p, span, td.quiet')].filter(
          (element) => element.textContent !== '',
        );
        return {
          isTooWide: document.documentElement.scrollWidth > window.innerWidth,
          contrast: Math.min(
            ...texts.map((element) => {
              const [one, other] = [light(getComputedStyle(element).color), light(behind(element))];
              return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
            }),
          ),
          background: behind(document.querySelector('.card')),
          foreign: document.querySelectorAll('img, script, link, iframe, form').length,
        };
      });
      expect({ width, look, ...seen, asked }).toEqual({
        ...{ width, look, isTooWide: false, foreign: 0, asked: [] },
        background: look === 'dark' ? 'rgb(21, 23, 27)' : 'rgb(255, 255, 255)',
        contrast: expect.any(Number) as number,
      });
      expect(seen.contrast).toBeGreaterThanOrEqual(4.5);
      await page.close();
    }
  },
);
