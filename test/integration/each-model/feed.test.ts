import { feedConformance } from '../../conformance/feed.conformance.ts';
import { IS_DEEP } from '../../support/seed.ts';
import { eachModel } from '../../support/some-models.ts';

/** One that no feed of the tests reaches, and one that most outgrow: the rest of a feed is read from the actions. */
const [WIDE, NARROW] = [1_000, 3];

for (const [n, model] of eachModel().entries())
  // Nothing is stored by `pull`, however much may be.
  if (model === 'pull') feedConformance(model, WIDE);
  else if (IS_DEEP || model === 'items') for (const cap of [WIDE, NARROW]) feedConformance(model, cap);
  else feedConformance(model, n % 2 === 0 ? NARROW : WIDE);
