/* Included before each C source of a peer (gcc -include), so that ten thousand ranks can share one
 * process. The global variables of BLACS become variables of each rank, and the contents of large
 * messages are not copied, since modelled work reads no data (own_globals.c). */
#ifndef OSLA_OWN_GLOBALS_H
#define OSLA_OWN_GLOBALS_H

#include <mpi.h>

/* Replacements for the variables of BI_GlobalVars.c, which the build omits. A macro turns the
 * declaration of a variable into the declaration of a function: extern int BI_Np -> extern int
 * (*own_BI_Np()). */
#define BI_MaxNCtxt    (*own_BI_MaxNCtxt())
#define BI_MaxNSysCtxt (*own_BI_MaxNSysCtxt())
#define BI_Iam         (*own_BI_Iam())
#define BI_Np          (*own_BI_Np())
#define BI_ReadyB      (*own_BI_ReadyB())
#define BI_ActiveQ     (*own_BI_ActiveQ())
#define BI_AuxBuff     (*own_BI_AuxBuff())
#define BI_MyContxts   (*own_BI_MyContxts())
#define BI_SysContxts  (*own_BI_SysContxts())
#define BI_COMM_WORLD  (*own_BI_COMM_WORLD())
#define BI_Stats       (*own_BI_Stats())

/* Functions of MPI that are replaced. A message of more than 4 KiB takes its time, but carries no
 * data. */
int own_send(const void *, int, MPI_Datatype, int, int, MPI_Comm);
int own_ssend(const void *, int, MPI_Datatype, int, int, MPI_Comm);
int own_isend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int own_issend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int own_recv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
int own_irecv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int own_iprobe(int, int, MPI_Comm, int *,
               /* A probe for messages takes 1 us of simulated time, and more if it is repeated. */
               MPI_Status *);
int own_bcast(void *, int, MPI_Datatype, int, MPI_Comm);

#ifndef OSLA_OWN_GLOBALS_C
#define MPI_Send   own_send
#define MPI_Rsend  own_send
#define MPI_Ssend  own_ssend
#define MPI_Isend  own_isend
#define MPI_Issend own_issend
#define MPI_Recv   own_recv
#define MPI_Irecv  own_irecv
#define MPI_Iprobe own_iprobe
#define MPI_Bcast  own_bcast
#endif

#endif
