import { defineDescriptor, nameField, refIdField, text } from './define.ts';

export const applicantHired = defineDescriptor({
  type: 'ApplicantHired',
  inputName: 'applicantHired',
  description: 'An applicant was hired for a position.',
  fields: {
    applicantId: refIdField('Who was hired.'),
    applicantName: nameField('applicantId', 'Name of the applicant.'),
    positionId: refIdField('The position filled.'),
    positionName: nameField('positionId', 'Name of the position.'),
  },
  summary: (values) => `${text(values, 'applicantName')} was hired as ${text(values, 'positionName')}`,
});
