import { defineDescriptor } from '../../declare.ts';
import { field } from '../../field.ts';

export const newApplicant = defineDescriptor('NewApplicant', {
  description: 'Somebody applied for a position.',
  fields: {
    applicantId: field.person({ description: 'The applicant.', name: 'applicantName', asRef: false }),
    applicantName: field.text({ description: 'Name of the applicant.' }),
    positionId: field.ref('position', {
      description: 'The position applied for.',
      label: 'positionName',
      asRef: false,
    }),
    positionName: field.text({ description: 'Name of the position.' }),
  },
  group: ['positionId'],
  summary: {
    en: '{applicantId} applied for {positionId}',
    de: '{applicantId} hat sich auf {positionId} beworben',
  },
  groupSummary: {
    de: '{applicantId} {subjects, plural, one {hat} other {haben}} sich auf {positionId} beworben',
  },
});
