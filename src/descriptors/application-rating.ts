import { defineDescriptor, nameField, numberField, refIdField, textField } from './define.ts';

export const applicationRating = defineDescriptor({
  type: 'ApplicationRating',
  inputName: 'applicationRating',
  description: 'Somebody rated an applicant for a position.',
  fields: {
    raterId: refIdField('Who rated.', { isIndexed: true, isActor: true }),
    raterName: nameField('raterId', 'Name of the rater.'),
    applicantId: refIdField('Who was rated.', { isPerson: true }),
    applicantName: nameField('applicantId', 'Name of the applicant.'),
    positionId: refIdField('The position applied for.'),
    positionName: nameField('positionId', 'Name of the position.'),
    ratingScore: numberField('The score, 0 to 100 on whatever scale the application uses.', 0, 100),
    ratingText: textField('What the rater wrote.', { isOptional: true }),
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
