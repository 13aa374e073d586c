import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { findBrowser, ofBrowser, openPage } from '../../../../test/support/browser.ts';
import { axeViolationsInBoth, picture } from '../../../../test/support/console.ts';
import { isLeftOut } from '../../../../test/support/needed.ts';
import { MEASURED_COSTS } from '../../src/measured-costs.ts';
import { planPage } from '../../src/page.ts';
import { planOf } from '../../src/plan.ts';
import { workloadOf } from '../../src/workload.ts';

const found = await findBrowser();

test.skipIf(isLeftOut(typeof found !== 'string'))(
  'the page of a plan asks for nothing, is accessible in light and dark, and fits a phone and a sheet of paper',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fanfare-plan-'));
    try {
      const path = join(folder, 'plan.html');
      await writeFile(path, planPage(planOf(workloadOf({ members: 10_000_000 }), MEASURED_COSTS)));
      const url = pathToFileURL(path).href;
      await using visit = await openPage(ofBrowser(found), url);
      const { page, asked, errors } = visit;
      expect(await axeViolationsInBoth(page, (name) => picture(page, `plan-${name}`))).toEqual({});
      await page.setViewport({ width: 390, height: 844 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      const cut = `[...document.querySelectorAll('section')].filter((one) => one.scrollWidth > one.clientWidth).length`;
      expect(await page.evaluate(cut)).toBe(0);
      await picture(page, 'plan-phone');
      await page.emulateMediaType('print');
      expect(await page.evaluate("getComputedStyle(document.querySelector('section')).backgroundColor")).toBe(
        'rgb(255, 255, 255)',
      );
      // The icon that a browser looks for is no request of the page.
      expect(asked).toEqual([url]);
      expect(errors).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
      await ofBrowser(found).close();
    }
  },
);
