import { defineDescriptor, nameField, refIdField, text } from './define.ts';

export const applicantRatingRequested = defineDescriptor({
  type: 'ApplicantRatingRequested',
  inputName: 'applicantRatingRequested',
  description: 'Somebody was asked to rate an applicant.',
  fields: {
    applicantId: refIdField('Who is to be rated.'),
    applicantName: nameField('applicantId', 'Name of the applicant.'),
    requestedFromId: refIdField('Who was asked.'),
    requestedFromName: nameField('requestedFromId', 'Name of who was asked.'),
  },
  summary: (values) =>
    `${text(values, 'requestedFromName')} was asked to rate ${text(values, 'applicantName')}`,
});
