import { defineDescriptor } from '../../declare.ts';
import { field } from '../../field.ts';

export const applicantHired = defineDescriptor('ApplicantHired', {
  description: 'An applicant was hired for a position.',
  fields: {
    applicantId: field.person({ description: 'The applicant.', name: 'applicantName', asRef: false }),
    applicantName: field.text({ description: 'Name of the applicant.' }),
    positionId: field.ref('position', {
      description: 'The position filled.',
      label: 'positionName',
      asRef: false,
    }),
    positionName: field.text({ description: 'Name of the position.' }),
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
