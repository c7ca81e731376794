/* Test cases of test_tomo_choice for headers and columns of lists. */
#ifndef LIST_COLUMNS_H
#define LIST_COLUMNS_H

void test_list_kinds(void);
void test_list_times(void);
void test_list_depths(void);

#endif
