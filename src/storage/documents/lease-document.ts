/** Work that a document carries, in the write that makes it due. */
export interface LeaseDocument<P = never> {
  /** When it may be claimed: at once, after a pause, or when the lease of its owner expires. */
  due: Date;
  owner?: string;
  /** Claims since it became due, but for those that were given back in order. */
  attempts?: number;
  /** Why the last attempt failed. */
  error?: string;
  progress?: P;
}
