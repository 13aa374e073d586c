import { defineDescriptor, nameField, refIdField, text } from './define.ts';

export const newApplicant = defineDescriptor({
  type: 'NewApplicant',
  inputName: 'newApplicant',
  description: 'Somebody applied for a position.',
  fields: {
    applicantId: refIdField('Who applied.'),
    applicantName: nameField('applicantId', 'Name of the applicant.'),
    positionId: refIdField('The position applied for.'),
    positionName: nameField('positionId', 'Name of the position.'),
  },
  summary: (values) => `${text(values, 'applicantName')} applied for ${text(values, 'positionName')}`,
});
