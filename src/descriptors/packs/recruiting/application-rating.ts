import { defineDescriptor } from '../../declare.ts';
import { field } from '../../field.ts';

export const applicationRating = defineDescriptor('ApplicationRating', {
  description: 'Somebody rated an applicant for a position.',
  fields: {
    raterId: field.person({
      description: 'The rater.',
      name: 'raterName',
      indexed: true,
      isActor: true,
      asRef: false,
    }),
    raterName: field.text({ description: 'Name of the rater.' }),
    applicantId: field.person({ description: 'The applicant.', name: 'applicantName', asRef: false }),
    applicantName: field.text({ description: 'Name of the applicant.' }),
    positionId: field.ref('position', {
      description: 'The position applied for.',
      label: 'positionName',
      asRef: false,
    }),
    positionName: field.text({ description: 'Name of the position.' }),
    ratingScore: field.float({
      description: 'The score, 0 to 100 on whatever scale the application uses.',
      min: 0,
      max: 100,
    }),
    ratingText: field.text({ description: "The rater's comment.", optional: true, shownAs: 'body' }),
  },
  group: ['applicantId', 'positionId'],
  summary: {
    en: '{raterId} rated {applicantId} {ratingScore, number} for {positionId}',
    de: '{raterId} hat {applicantId} für {positionId} mit {ratingScore, number} bewertet',
  },
  groupSummary: {
    en: '{raterId} rated {applicantId} for {positionId}',
    de: '{raterId} {subjects, plural, one {hat} other {haben}} {applicantId} für {positionId} bewertet',
  },
});
