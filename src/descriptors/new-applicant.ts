import { defineDescriptor, nameField, refIdField } from './define.ts';

export const newApplicant = defineDescriptor({
  type: 'NewApplicant',
  inputName: 'newApplicant',
  description: 'Somebody applied for a position.',
  fields: {
    applicantId: refIdField('Who applied.', { isPerson: true }),
    applicantName: nameField('applicantId', 'Name of the applicant.'),
    positionId: refIdField('The position applied for.'),
    positionName: nameField('positionId', 'Name of the position.'),
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
