import { defineDescriptor, nameField, refIdField } from './define.ts';

export const applicantRatingRequested = defineDescriptor({
  type: 'ApplicantRatingRequested',
  inputName: 'applicantRatingRequested',
  description: 'Somebody was asked to rate an applicant.',
  fields: {
    applicantId: refIdField('Who is to be rated.', { isPerson: true }),
    applicantName: nameField('applicantId', 'Name of the applicant.'),
    requestedFromId: refIdField('Who was asked.', { isPerson: true }),
    requestedFromName: nameField('requestedFromId', 'Name of who was asked.'),
  },
  group: ['applicantId'],
  summary: {
    en: '{actor} asked {requestedFromId} to rate {applicantId}',
    de: '{actor} hat {requestedFromId} gebeten, {applicantId} zu bewerten',
  },
  groupSummary: {
    de: '{actor} {subjects, plural, one {hat} other {haben}} {requestedFromId} gebeten, {applicantId} zu bewerten',
  },
});
