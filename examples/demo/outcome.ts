/** What a round has shown. */
export interface Outcome {
  readonly round: string;
  readonly result: string;
  readonly good: boolean;
}
