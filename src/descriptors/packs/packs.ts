import { custom } from './custom.ts';
import { applicantHired } from './recruiting/applicant-hired.ts';
import { applicantRatingRequested } from './recruiting/applicant-rating-requested.ts';
import { applicationRating } from './recruiting/application-rating.ts';
import { newApplicant } from './recruiting/new-applicant.ts';
import { commented } from './social/commented.ts';
import { followed } from './social/followed.ts';
import { liked } from './social/liked.ts';
import { posted } from './social/posted.ts';

export const PACKS = {
  recruiting: [applicationRating, newApplicant, applicantHired, applicantRatingRequested],
  social: [posted, followed, liked, commented],
} as const;

export type PackName = keyof typeof PACKS;
export const PACK_NAMES = Object.keys(PACKS) as readonly PackName[];

/** Part of every configuration: the fallback for events without a type of their own. */
export const ALWAYS = [custom] as const;
