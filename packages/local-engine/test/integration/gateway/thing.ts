/** A document of any shape, whose _id the tests choose themselves where they need it. */
export interface Thing {
  _id?: number | string;
  [field: string]: unknown;
}
