import { defineDescriptor, nameField, refIdField } from './define.ts';

export const applicantHired = defineDescriptor({
  type: 'ApplicantHired',
  inputName: 'applicantHired',
  description: 'An applicant was hired for a position.',
  fields: {
    applicantId: refIdField('Who was hired.', { isPerson: true }),
    applicantName: nameField('applicantId', 'Name of the applicant.'),
    positionId: refIdField('The position filled.'),
    positionName: nameField('positionId', 'Name of the position.'),
  },
  group: ['positionId'],
  summary: {
    en: '{actor} hired {applicantId} as {positionId}',
    de: '{actor} hat {applicantId} als {positionId} eingestellt',
  },
  groupSummary: {
    de: '{actor} {subjects, plural, one {hat} other {haben}} {applicantId} als {positionId} eingestellt',
  },
});
