/** What a promise is rejected with; undefined if it is fulfilled. */
export const errorOf = async (work: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error;
  }
};
