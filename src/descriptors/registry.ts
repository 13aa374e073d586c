import { applicantHired } from './applicant-hired.ts';
import { applicantRatingRequested } from './applicant-rating-requested.ts';
import { applicationRating } from './application-rating.ts';
import { commented } from './commented.ts';
import { custom } from './custom.ts';
import type { DescriptorType } from './define.ts';
import { followed } from './followed.ts';
import { liked } from './liked.ts';
import { newApplicant } from './new-applicant.ts';
import { posted } from './posted.ts';

/** Every descriptor type. A new one is its file and a line here. */
export const DESCRIPTOR_TYPES: readonly DescriptorType[] = [
  applicationRating,
  newApplicant,
  applicantHired,
  applicantRatingRequested,
  posted,
  followed,
  liked,
  commented,
  custom,
];

const byType = new Map(DESCRIPTOR_TYPES.map((descriptor) => [descriptor.type, descriptor]));
const byInputName = new Map(DESCRIPTOR_TYPES.map((descriptor) => [descriptor.inputName, descriptor]));

export function descriptorOfType(type: string): DescriptorType | undefined {
  return byType.get(type);
}

export function descriptorOfInput(inputName: string): DescriptorType | undefined {
  return byInputName.get(inputName);
}

/** Fields that are declared as indexed by any type: actions can be found by their values. */
export const INDEXED_FIELDS: readonly string[] = [
  ...new Set(
    DESCRIPTOR_TYPES.flatMap(({ fieldList }) =>
      fieldList.flatMap(({ name, field }) => (field.kind === 'id' && field.isIndexed ? [name] : [])),
    ),
  ),
];
